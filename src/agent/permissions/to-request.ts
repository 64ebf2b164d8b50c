import { lstat, readlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { UNSEEN_IN_TEXT } from "../../base/safety/invisible.ts";
import { spellLookalikes } from "../../base/safety/visible-text.ts";
import type { FileRequest, FileScope, ShellRequest } from "./permission.ts";
import { programOf } from "./shell/command-reach.ts";
import { repositoryMayRun } from "./shell/git-programs.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { SimpleCommand } from "./shell/read-word.ts";

/** Devices that neither hold nor keep anything. */
const HARMLESS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"]);
const MAX_LOOKED_UP = 500;

/** A request for a path with its links followed. Deleting concerns a link itself, not its target. */
export async function toFileRequest(scope: FileScope, given: string, root: string): Promise<FileRequest> {
  const name = basename(given);
  if (scope !== "fs-delete" || name === "." || name === ".." || name === "") {
    return { scope, given, path: await resolveLinks(given, root) };
  }
  return { scope, given, path: join(await resolveLinks(dirname(given), root), name) };
}

/** A request for a command that runs in the project's folder, with everything that a decision needs. */
export async function toShellRequest(command: string, root: string): Promise<ShellRequest> {
  const parsed = parseShell(command);
  if (!parsed.ok) return { scope: "shell-run", command, parsed, files: [], mentions: [] };
  const targets = parsed.redirections.filter(({ target }) => target.literal && !HARMLESS.has(target.text));
  const files = await Promise.all(
    targets.map(({ target, writes }) => toFileRequest(writes ? "fs-write" : "fs-read", target.text, root)),
  );
  let left = MAX_LOOKED_UP;
  const mentions: string[][][] = [];
  for (const { words } of parsed.commands) {
    left -= words.length;
    if (left < 0) return { scope: "shell-run", command, parsed: TOO_MANY, files: [], mentions: [] };
    mentions.push(await mentionsOf(words, root));
  }
  const usesGit = parsed.commands.some((simple) => programOf(simple) === "git");
  const gitMayRun = usesGit && repositoryMayRun(root);
  return { scope: "shell-run", command, parsed, files, mentions, ...(gitMayRun && { gitMayRun }) };
}

const TOO_MANY = { ok: false, reason: `it has more than ${MAX_LOOKED_UP} words` } as const;

/**
 * A word is taken for a path as a whole, by the parts behind `=`, `:`, `,` and `@`, and behind letters of short
 * options. The host of an address counts as a folder of the project.
 */
async function mentionsOf(words: SimpleCommand["words"], root: string): Promise<string[][]> {
  return Promise.all(
    words.map(async ({ text }) => {
      const local = text.replace(/(?:https?|wss?|ssh|git|git\+ssh):\/\//gi, "");
      const letters = /^-[A-Za-z]{1,4}/.exec(text)?.[0].length ?? 0;
      const values = Array.from({ length: Math.max(0, letters - 1) }, (_, at) => text.slice(at + 2));
      const parts = new Set([text, ...local.split(/[=:,@]/), ...values, text.replace(/^--[A-Za-z]/, "")]);
      const paths = [...parts].filter((part) => part !== "");
      return Promise.all(paths.map((part) => resolveLinks(part, root).catch(() => part)));
    }),
  );
}

/**
 * The whole text for a person who decides by it. Invisible characters and lookalikes are named, such as `‹U+202E›`;
 * nothing is cut, so a face with too little room shows the text in pages.
 */
export function showExactly(text: string): string {
  return spellLookalikes(text.replace(UNSEEN_IN_TEXT, nameOf), nameOf);
}

function nameOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `‹U+${point.toString(16).toUpperCase().padStart(4, "0")}›`;
}

const MAX_LINKS = 40;
const MISSING = Symbol("missing");

/**
 * The absolute path that the system would reach: every link followed in order, `..` taken from where a link
 * leads, also where the last parts do not exist yet.
 * @throws `INVALID_INPUT` for a path with more than 40 links.
 */
export async function resolveLinks(path: string, folder: string): Promise<string> {
  const start = isAbsolute(path) ? path : `${folder}/${path}`;
  let waiting = partsOf(start);
  let current = "/";
  let links = 0;
  /** The first folder that does not exist: nothing below it needs a look. */
  let missing: string | undefined;
  while (waiting.length > 0) {
    const [part = "", ...rest] = waiting;
    waiting = rest;
    if (part === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = missing && next.startsWith(`${missing}/`) ? undefined : await linkTarget(next);
    if (target === undefined || target === MISSING) {
      if (target === MISSING) missing = next;
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS)
      throw problem("INVALID_INPUT", { operation: "the workspace", reason: `${path} has too many links` });
    if (isAbsolute(target)) current = "/";
    waiting = [...partsOf(target), ...waiting];
  }
  return current;
}

/** The target of a link; undefined for everything that is not a link. */
async function linkTarget(path: string): Promise<string | typeof MISSING | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return MISSING;
    throw error;
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
