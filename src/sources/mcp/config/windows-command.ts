import { win32 } from "node:path";
import { problem } from "../../../schema/problem.ts";

/** A command line as Windows has to start it. */
export interface WindowsCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether the arguments are quoted already. */
  readonly isVerbatim: boolean;
}

export interface WindowsPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

const ENDINGS = ".COM;.EXE;.BAT;.CMD";
/** Characters with a meaning for cmd.exe. */
const META = /([()\][%!^"`<>&|;, *?])/g;

/**
 * Builds the command line for a program on Windows. Shims such as `npx.cmd` are scripts that only cmd.exe can run, and
 * cmd.exe reads its line by rules of its own, so their arguments are quoted for both.
 *
 * @throws UPSTREAM_LOST for an argument with a line break, which cmd.exe cannot be given.
 */
export function toWindowsCommand(
  label: string,
  command: string,
  args: readonly string[],
  place: WindowsPlace,
): WindowsCommand {
  const path = findWindowsProgram(command, place);
  if (path === undefined || !/\.(?:cmd|bat)$/i.test(path))
    return { command: path ?? command, args, isVerbatim: false };
  if ([path, ...args].some((word) => /[\r\n\0]/.test(word))) {
    const reason = "an argument of its .cmd file has a line break";
    throw problem("UPSTREAM_LOST", { server: label, reason }, { reason });
  }
  // npm's shims pass their arguments to another cmd line, which reads the escapes once more.
  const isShim = /[\\/]node_modules[\\/]\.bin[\\/]|[\\/](?:npx|npm|pnpm|yarn|uvx)\.cmd$/i.test(path);
  const words = args.map((word) => quoted(word, isShim));
  const line = [win32.normalize(path).replace(META, "^$1"), ...words].join(" ");
  const shell = variable(place.env, "ComSpec") ?? "cmd.exe";
  return { command: shell, args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}

/** Looks a command up as Windows does: in the folder, then on the Path, with each ending of PATHEXT. */
export function findWindowsProgram(command: string, { env, cwd, isFile }: WindowsPlace): string | undefined {
  const endings = (variable(env, "PATHEXT") || ENDINGS).split(";").filter(Boolean);
  const hasEnding = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = [...(hasEnding ? [command] : []), ...endings.map((ending) => command + ending.toLowerCase())];
  const folders = /[\\/]/.test(command) ? [cwd] : (variable(env, "Path") ?? "").split(";").filter(Boolean);
  for (const folder of folders) {
    for (const name of names) {
      const path = win32.resolve(cwd, folder, name);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

/** Names of variables have no case on Windows, and copies of the environment forget that. */
export function variable(env: WindowsPlace["env"], name: string): string | undefined {
  const found = Object.keys(env).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : env[found];
}

/** Quotes for programs (backslashes before quotes double), then escapes for cmd.exe. */
function quoted(word: string, isShim: boolean): string {
  const inner = word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1");
  const once = `"${inner}"`.replace(META, "^$1");
  return isShim ? once.replace(META, "^$1") : once;
}
