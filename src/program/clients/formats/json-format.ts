import { type Format, refused } from "./format.ts";
import { parseJsonc } from "./parse-jsonc.ts";

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

interface JsoncChange {
  readonly path: readonly string[];
  /** `undefined` removes the key. */
  readonly value: unknown;
}

/** The text of a JSON file with values changed. Comments, line endings, indentation and byte order mark stay. */
export async function editJsonc(given: string, changes: readonly JsoncChange[]): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const [, mark, text] = /^(\uFEFF?)([\s\S]*)$/.exec(given) as unknown as [string, string, string];
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  let edited = text;
  for (const { path, value } of changes)
    edited = applyEdits(edited, modify(edited, [...path], value, { formattingOptions }));
  return mark + edited;
}
