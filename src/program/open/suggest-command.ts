import { ownConfig } from "./user-folders.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/**
 * Writes a command for a person to type. It names the config that the person named, unless commands read that one
 * anyway, and works in their shell.
 */
export function suggestCommand(words: readonly string[], config: string | undefined): string {
  const isNamed = config !== undefined && config !== ownConfig();
  const line = ["keyhole", ...words, ...(isNamed ? ["--config", config] : [])];
  return line.map(quoteWord).join(" ");
}

/** A word as a shell takes it. */
export function quoteWord(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}
