/** What a URI fragment such as `/$defs/node` points to; undefined where there is nothing. */
export function resolvePointer(root: unknown, fragment: string): unknown {
  const pointer = decode(fragment);
  if (pointer === undefined) return undefined;
  let at: unknown = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
