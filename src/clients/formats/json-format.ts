import { editJsonc } from "../../util/edit-jsonc.ts";
import { parseJsonc } from "../../util/parse-jsonc.ts";
import { type Format, refused } from "./format.ts";

/** JSON with or without comments. */
export const jsonFormat: Format = {
  empty: "{}\n",
  read: async (text) => {
    // Some clients keep megabytes of history in the same file, always as plain JSON.
    const plain = parsePlain(text);
    if (plain) return plain.value;
    const parsed = await parseJsonc(text);
    if (parsed.ok) return parsed.value;
    const { line, column } = parsed.position;
    throw refused(`${parsed.reason} in line ${line}, column ${column}`);
  },
  edit: (text, { at, remove, set }) =>
    editJsonc(text, [
      ...Object.entries(set).map(([name, value]) => ({ path: [...at, name], value })),
      ...remove
        .filter((name) => !Object.hasOwn(set, name))
        .map((name) => ({ path: [...at, name], value: undefined })),
    ]),
};

function parsePlain(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
