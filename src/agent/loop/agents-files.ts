import { constants, mkdir, open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { holdsSecrets, isInside } from "../permissions/sensitive-path.ts";
import { projectFolders, readStart } from "./project-files.ts";

/** The first of these that a folder has counts. */
const NAMES = ["AGENTS.md", "CLAUDE.md"] as const;
const MAX_BYTES = 32 * 1024;
/** Limits of what such files include by `@path`. */
const MOST_DEPTH = 5;
const MOST_INCLUDED = 20;
const MOST_INCLUDED_CHARS = 64 * 1024;

/** Instructions for agents that a person or a project keeps in a file. */
interface AgentsFile {
  readonly path: string;
  readonly text: string;
}

/** The folders whose files may be included. */
interface IncludedFrom {
  readonly project?: string | undefined;
  readonly user?: string | undefined;
}

/**
 * Reads the first 32 KB of each AGENTS.md: the person's own, then those from the root of the repository down to the
 * folder, so that the nearest comes last, each followed by the files that it includes with `@path`. A folder without
 * one may have a CLAUDE.md. Only regular files inside the project count, and Markdown of the person's own folder: a
 * link that leads out could show a model any file of the person.
 */
export async function readAgentsFiles(
  project: string | undefined,
  user?: string | undefined,
): Promise<AgentsFile[]> {
  const folders = project === undefined ? [] : await projectFolders(project);
  const root = folders.at(-1);
  const own = user === undefined ? undefined : await readFirst(user, user);
  const found = await Promise.all(folders.toReversed().map((folder) => readFirst(folder, root!)));
  const files = [own, ...found].filter((file) => file !== undefined);
  const reader = new IncludeReader(files);
  const all: AgentsFile[] = [];
  for (const file of files) {
    const from = file === own ? { user } : { project: root, user };
    all.push(file, ...(await reader.includedBy(file, from, MOST_DEPTH)));
  }
  return all;
}

async function readFirst(folder: string, root: string): Promise<AgentsFile | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    const [real, inside] = await Promise.all([realOf(path), realOf(root)]);
    if (real === undefined || inside === undefined || !isInside(real, inside)) continue;
    const text = await readStart(real, MAX_BYTES);
    if (text !== undefined && text.trim() !== "") return { path, text: toVisibleText(text) };
  }
  return undefined;
}

/** The file of a folder that a note for agents belongs into: the one that counts, or a new one. */
export async function noteFile(folder: string): Promise<string> {
  return (await readFirst(folder, folder))?.path ?? join(folder, NAMES[0]);
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** Adds a note to the end of a file, unless it is a link out of its folder. Returns a sentence about it. */
export async function addNote(path: string, note: string): Promise<string> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const real = (await realOf(path)) ?? path;
  if (real !== path && !isInside(real, await realpath(folder)))
    return `Not added: ${path} is a link out of its folder.`;
  const file = await open(real, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
  try {
    const before = await file.readFile("utf8");
    await file.appendFile(`${before === "" || before.endsWith("\n") ? "" : "\n"}- ${note}\n`);
  } finally {
    await file.close();
  }
  return `Added to ${path}: ${note}`;
}

/** Reads each included file once, within limits of all of them together. */
class IncludeReader {
  readonly #read: Set<string>;
  #files = 0;
  #chars = 0;

  constructor(files: readonly AgentsFile[]) {
    this.#read = new Set(files.map(({ path }) => path));
  }

  async includedBy({ path, text }: AgentsFile, from: IncludedFrom, depth: number): Promise<AgentsFile[]> {
    const files: AgentsFile[] = [];
    for (const given of depth > 0 ? includesIn(text) : []) {
      const file = await this.#include(given, dirname(path), from);
      if (file) files.push(file, ...(await this.includedBy(file, from, depth - 1)));
    }
    return files;
  }

  async #include(given: string, folder: string, from: IncludedFrom): Promise<AgentsFile | undefined> {
    const path = given.startsWith("~/") ? join(homedir(), given.slice(2)) : resolve(folder, given);
    const real = await realOf(path);
    if (real === undefined || this.#read.has(path) || this.#read.has(real)) return undefined;
    if (!(await mayInclude(real, from)) || this.#files >= MOST_INCLUDED) return undefined;
    const source = await readStart(real, MAX_BYTES);
    // A file with such a character is none of text.
    if (source === undefined || source.trim() === "" || source.includes("\0")) return undefined;
    const text = toVisibleText(source);
    if (this.#chars + text.length > MOST_INCLUDED_CHARS) return undefined;
    this.#read.add(real);
    this.#files += 1;
    this.#chars += text.length;
    return { path, text };
  }
}

/** Paths behind `@` at the start of a word, outside of code. A name without such a file includes nothing. */
function includesIn(text: string): string[] {
  const prose = text.replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1|`[^`\n]*`/gm, " ");
  return [...prose.matchAll(/(?<=^|\s)@([^\s@]{1,500})/g)].map(([, path]) =>
    path!.replace(/[.,;:!?)\]]+$/, ""),
  );
}

async function mayInclude(real: string, { project, user }: IncludedFrom): Promise<boolean> {
  const root = project === undefined ? undefined : await realOf(project);
  if (root !== undefined && isInside(real, root)) return !holdsSecrets(real, root);
  const own = user === undefined ? undefined : await realOf(user);
  return own !== undefined && isInside(real, own) && /\.md$/i.test(real);
}

function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
