export interface JsoncChange {
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
