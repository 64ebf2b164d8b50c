import { hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { problem } from "../../../base/problems/problem.ts";
import { hidesText, toVisibleText } from "../../../base/safety/visible-text.ts";
import type { SkillFile } from "./skill.ts";

export const MAX_FILES = 512;
export const MAX_SKILL_BYTES = 16 * 2 ** 20;
export const MAX_FILE_BYTES = 4 * 2 ** 20;
const MAX_DEPTH = 8;
const MAX_PATH = 300;
/** Names that a skill does not serve: those with a leading dot, and installed packages. */
const LEFT_OUT = /^\.|^node_modules$/;

/** Lists the files of a skill, in order. Everything except plain files and folders is a problem. */
export async function listSkillFiles(folder: string): Promise<string[]> {
  const paths: string[] = [];
  await walk("", 0);
  checkCollisions(paths);
  return paths;

  async function walk(under: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw refused(`${under} is nested more than ${MAX_DEPTH} deep`);
    const children = await readdir(join(folder, under), { withFileTypes: true });
    children.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const child of children) {
      if (LEFT_OUT.test(child.name)) continue;
      const path = under === "" ? child.name : `${under}/${child.name}`;
      checkName(path, child.name);
      if (child.isDirectory()) await walk(path, depth + 1);
      else if (child.isFile()) paths.push(path);
      else throw refused(`${path} is ${child.isSymbolicLink() ? "a link" : "no plain file"}`);
      if (paths.length > MAX_FILES) throw refused(`it has more than ${MAX_FILES} files`);
    }
  }
}

/** Reads a skill's file as bytes or cleaned text. Follows no link and checks that the open file is within the skill. */
export async function readSkillFile(folder: string, path: string): Promise<Buffer> {
  const where = join(folder, path);
  const file = await open(where, constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING).catch(() => {
    throw refused(`${path} cannot be opened as a plain file`);
  });
  try {
    const opened = await file.stat({ bigint: true });
    if (!opened.isFile()) throw refused(`${path} is no plain file`);
    // A hard link may be any file: which of its names came first is unknown.
    if (opened.nlink > 1n) throw refused(`${path} is a hard link`);
    if (opened.size > MAX_FILE_BYTES) throw refused(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
    const real = await realpath(where);
    const there = await stat(real, { bigint: true });
    if (real !== where || there.ino !== opened.ino || there.dev !== opened.dev)
      throw refused(`${path} leads out of the skill`);
    const bytes = await readAtMost(file, path);
    const text = textOfBytes(bytes);
    return text === undefined ? bytes : Buffer.from(toVisibleText(text));
  } finally {
    await file.close();
  }
}

/** Reads a listed file. A changed file is a problem. */
export async function readListedFile(folder: string, { path, digest }: SkillFile): Promise<Buffer> {
  const bytes = await readSkillFile(folder, path);
  if (digestOf(bytes) !== digest) throw refused(`${path} has changed since it was listed`);
  return bytes;
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes)}`;
}

/** Decodes bytes as text. Undefined if they are not text. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

export function refused(reason: string) {
  return problem("SKILL_REFUSED", { reason }, { reason });
}

// On systems without these flags, only the comparison of the open file protects.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/** Reads up to the limit, even if the file grows meanwhile. */
async function readAtMost(file: FileHandle, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536), 0, 65_536, size);
    if (bytesRead === 0) return Buffer.concat(chunks);
    size += bytesRead;
    if (size > MAX_FILE_BYTES) throw refused(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

function checkName(path: string, name: string): void {
  if (hidesText(name) || /[\\\n\t]/.test(name))
    throw refused(
      `${JSON.stringify(toVisibleText(path))} has characters in its name that cannot be seen or told apart`,
    );
  if (encodeURI(path).length > MAX_PATH) throw refused(`the path ${path.slice(0, 60)}… is too long`);
}

/** Equal for names that some systems, or the dotted form of routes, confuse. */
function checkCollisions(paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const key = path.normalize("NFKC").toLowerCase().toUpperCase().replaceAll("/", ".");
    const other = seen.get(key);
    if (other !== undefined) throw refused(`${other} and ${path} can be taken for one another`);
    seen.set(key, path);
  }
}
