/** Finds what a URI fragment such as `/$defs/node` points to. Undefined where it points to nothing. */
export function resolvePointer(root: unknown, fragment: string): unknown {
  const parts = pointerParts(fragment);
  if (parts === undefined) return undefined;
  let at: unknown = root;
  for (const key of parts) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

/** The keys of a JSON pointer in a URI fragment, each decoded. Undefined where one cannot be decoded. */
export function pointerParts(fragment: string): string[] | undefined {
  try {
    // Part by part, as the validator does it: an encoded slash is part of a key.
    return fragment.split("/").slice(1).map(decodeURIComponent).map(unescapePart);
  } catch {
    return undefined;
  }
}

/** Undoes the escapes of a JSON pointer's part. */
export function unescapePart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Escapes a key for a JSON pointer. See {@link unescapePart}. */
export function escapePart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
