import { readdir } from "node:fs/promises";
import { isAbsolute, join, normalize, posix } from "node:path";
import type { AgentEvent } from "../loop/agent-event.ts";
import type { ChatImage, PromptFile, UserMessage } from "./chat-agent.ts";

const MOST_MENTIONS = 20;

/** The mentioned paths: `@path` or `@"path with spaces"` at the start of a word. */
export function findMentions(text: string): string[] {
  const paths = text
    .matchAll(/(?<=^|\s)@(?:"([^"\n]{1,1000})"|([^\s"]{1,1000}))/g)
    .map(([, quoted, word]) => quoted ?? word!.replace(/[,;:!?)\]}]{1,9}$/, ""))
    .filter((path) => path !== "");
  return [...new Set(paths)].slice(0, MOST_MENTIONS);
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

/** The files and folders that match: by their start, by the start of a name, by a part, by letters in this order. */
export function matchFiles(files: readonly string[], typed: string, limit: number): string[] {
  if (isAbsolute(typed)) return [];
  const wanted = normalize(typed === "" ? "." : typed).toLowerCase();
  if (wanted === ".") return files.slice(0, limit);
  const ranks = [
    (file: string) => file.startsWith(wanted),
    (file: string) => posix.basename(file).startsWith(wanted),
    (file: string) => file.includes(wanted),
    (file: string) => hasInOrder(file, wanted),
  ];
  const matches = ranks.flatMap((fits) => files.filter((file) => fits(file.toLowerCase())));
  return [...new Set(matches)].slice(0, limit);
}

function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of text) if (letter === letters[at]) at += 1;
  return at === letters.length;
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

/** A code block whose fence the text cannot close. */
export function toCodeBlock(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const mark = "`".repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}

const MOST_FILES = 5_000;
const MOST_FOLDERS = 1_000;
const SKIPPED = new Set(["node_modules", "dist", "build", "target", "__pycache__"]);

/** Paths of a project's files and folders for completion: shallow ones first, without hidden files and links, up to a limit. */
export async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [""];
  for (let at = 0; at < folders.length && at < MOST_FOLDERS && files.length < MOST_FILES; at += 1) {
    const folder = folders[at]!;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    entries.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) files.push(path);
      if (!entry.isDirectory() || SKIPPED.has(entry.name)) continue;
      folders.push(path);
      files.push(`${path}/`);
    }
  }
  return files.slice(0, MOST_FILES);
}

interface Inclusion {
  readonly signal: AbortSignal;
  isFile(path: string): Promise<boolean>;
  image(path: string): Promise<ChatImage | undefined>;
  /** Reads a file as a tool call. Returns its last event. */
  read(path: string): Promise<AgentEvent | undefined>;
  tell(text: string): void;
}

/** The message of a prompt, with the files that it mentions. */
export async function includeFiles(prompt: string, from: Inclusion): Promise<UserMessage> {
  const files: IncludedFile[] = [];
  const images: PromptFile[] = [];
  for (const path of findMentions(prompt)) {
    if (!(await from.isFile(path))) continue;
    const image = await from.image(path);
    if (image) {
      images.push(image);
      from.tell(`${path}: ${image.about}`);
      continue;
    }
    const last = await from.read(path);
    if (from.signal.aborted) break;
    if (last?.type === "tool-end" && last.ok) files.push({ path, text: last.text });
  }
  return { prompt: withFiles(prompt, files), ...(images.length > 0 && { files: images }) };
}
