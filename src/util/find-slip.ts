import { nearest } from "./nearest.ts";

/** Finds an unknown key that is probably a misspelt known one. */
export function findSlip(
  keys: readonly string[],
  known: readonly string[],
): { readonly given: string; readonly meant: string } | undefined {
  for (const given of keys) {
    const [meant] = known.includes(given) ? [] : nearest(given, known, 1);
    if (meant !== undefined) return { given, meant };
  }
  return undefined;
}
