import { basename, dirname, join } from "node:path";
import type { FileRequest, FileScope, ShellRequest } from "./permission.ts";
import { resolveLinks } from "./resolve-links.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { SimpleCommand } from "./shell/shell-command.ts";

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
  return { scope: "shell-run", command, parsed, files, mentions };
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
