import { isAbsolute, normalize } from "node:path";
import { toCodeBlock } from "../util/code-block.ts";

/** A file that a prompt mentions. */
export interface Mention {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

const MOST_MENTIONS = 20;

/** Finds mentions: `@path` or `@"path with spaces"` at the start of a word. */
export function findMentions(text: string): Mention[] {
  const found = new Map<string, Mention>();
  for (const match of text.matchAll(/(?<=^|\s)@(?:"([^"\n]{1,1000})"|([^\s"]{1,1000}))/g)) {
    const path = match[1] ?? match[2]!.replace(/[,;:!?)\]}]{1,9}$/, "");
    if (path !== "" && !found.has(path)) {
      found.set(path, { path, from: match.index, to: match.index + match[0].length });
    }
    if (found.size === MOST_MENTIONS) break;
  }
  return [...found.values()];
}

/** The unfinished mention at the cursor. */
export function mentionAt(
  text: string,
  cursor: number,
): { readonly typed: string; readonly from: number } | undefined {
  const start = Math.max(text.lastIndexOf(" ", cursor - 1), text.lastIndexOf("\n", cursor - 1)) + 1;
  if (text[start] !== "@" || start >= cursor) return undefined;
  return { typed: text.slice(start + 1, cursor), from: start };
}

/** Writes a path as a mention. */
export function toMention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** The files that match: those whose name starts with the typed text, then those that contain it. */
export function matchFiles(files: readonly string[], typed: string, limit: number): string[] {
  if (isAbsolute(typed)) return [];
  const wanted = normalize(typed === "" ? "." : typed).toLowerCase();
  if (wanted === ".") return files.slice(0, limit);
  const nameOf = (file: string) => file.slice(file.lastIndexOf("/") + 1);
  const ranks = [
    (file: string) => file.toLowerCase().startsWith(wanted),
    (file: string) => nameOf(file).toLowerCase().startsWith(wanted),
    (file: string) => file.toLowerCase().includes(wanted),
  ];
  const matches = new Set<string>();
  for (const fits of ranks) {
    for (const file of files) {
      if (matches.size === limit) return [...matches];
      if (fits(file)) matches.add(file);
    }
  }
  return [...matches];
}

export interface IncludedFile {
  readonly path: string;
  readonly text: string;
}

/** The prompt, followed by the files. */
export function withFiles(prompt: string, files: readonly IncludedFile[]): string {
  if (files.length === 0) return prompt;
  const parts = files.map(({ path, text }) => `File ${path}:\n${toCodeBlock(text)}`);
  return [prompt, ...parts].join("\n\n");
}
