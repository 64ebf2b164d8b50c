const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Writes a command for a person to type. It names the config that the person named, and works in their shell. */
export function suggestCommand(words: readonly string[], config: string | undefined): string {
  const line = ["keyhole", ...words, ...(config === undefined ? [] : ["--config", config])];
  return line.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}
