/** Returns the name, or the first free one of `name-2`, `name-3` and so on, and reserves it. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique); number++) unique = `${name}-${number}`;
  taken.add(unique);
  return unique;
}
