/** Finds two equal items and returns their positions. The order of keys does not matter. */
export function findRepeated(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = JSON.stringify(item, sortKeys) ?? "";
    const earlier = seen.get(key);
    if (earlier !== undefined) return [earlier, index];
    seen.set(key, index);
  }
  return undefined;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Wrapped, so that an object never equals a list of the same things.
  return { sorted: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) };
}
