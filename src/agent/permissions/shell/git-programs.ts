import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Settings of a repository that name no program. Every other one counts as naming one. */
const HARMLESS: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/,
  remote: /^(?:url|pushurl|fetch|tagopt|prune)$/,
  branch: /./,
  user: /^(?:name|email)$/,
  pull: /^(?:rebase|ff)$/,
  push: /^(?:default|autosetupremote)$/,
};
const HEADER = /^\[([A-Za-z0-9-]+)(?:[ \t]+"[^"\\]*")?\][ \t]*(.*)$/;
const SETTING = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$/;
/** The mode of a submodule in an index. Git looks into each by its own settings. */
const SUBMODULE = Buffer.from([0, 0, 0xe0, 0]);
const MAX_INDEX_BYTES = 64 * 1024 * 1024;

/**
 * Whether a git command that only reads may run a program in this folder: one that the settings of the repository or of
 * a submodule name, or a hook that reading triggers. True if in doubt.
 */
export function repositoryMayRun(folder: string): boolean {
  try {
    const repository = findRepository(folder);
    if (repository === undefined) return false;
    if (!lstatSync(repository).isDirectory()) return true;
    if (["hooks/post-index-change", "config.worktree"].some((file) => existsSync(join(repository, file))))
      return true;
    return namesProgram(readIfThere(join(repository, "config"))) || hasSubmodules(join(repository, "index"));
  } catch {
    return true;
  }
}

/** The repository that git finds from a folder, or a folder that git takes for one. */
function findRepository(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const inside = join(at, ".git");
    if (existsSync(inside)) return inside;
    if (existsSync(join(at, "HEAD")) && existsSync(join(at, "objects"))) return at;
    if (at === dirname(at)) return undefined;
  }
}

function namesProgram(config: string): boolean {
  let section = "";
  return config.split(/\r?\n/).some((text) => {
    const line = text.trim();
    const header = HEADER.exec(line);
    if (header) section = header[1]!.toLowerCase();
    const setting = header ? header[2]! : line;
    if (setting === "" || /^[#;]/.test(setting)) return false;
    const [, name, value = ""] = SETTING.exec(setting) ?? [];
    const isHarmless = name !== undefined && HARMLESS[section]?.test(name.toLowerCase()) === true;
    // `ext::` addresses name a program, and a value can go on in the next line.
    return !isHarmless || value.includes("::") || value.endsWith("\\");
  });
}

function hasSubmodules(index: string): boolean {
  if (!existsSync(index)) return false;
  return lstatSync(index).size > MAX_INDEX_BYTES || readFileSync(index).includes(SUBMODULE);
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
