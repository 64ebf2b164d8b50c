import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { lazy } from "../../base/util/lazy.ts";
import { type IsolatedProgram, type Isolation, type MountedPath, planMounts } from "./mounts.ts";

/** Only the system's own folders count: a program of that name on somebody's PATH could be anything. */
const FOLDERS = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];
const PROBE_MS = 5_000;
const ROOT_MAY = ["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"];

/** Says once for each process why programs cannot be isolated on this machine. Undefined if they can. */
export const isolationFault: () => Promise<string | undefined> = lazy(async () => {
  if (process.platform !== "linux") return `no sandbox is known for ${process.platform}`;
  const program = findBubblewrap();
  if (program === undefined) return "bubblewrap (bwrap) is not installed";
  const args = [...toArguments([{ path: "/", access: "read" }], "none"), "--", "/bin/sh", "-c", ":"];
  return new Promise((settle) => {
    execFile(program, args, { timeout: PROBE_MS }, (error, _, stderr) =>
      settle(error ? `bubblewrap fails: ${stderr.trim() || error.message}` : undefined),
    );
  });
});

/** The command line that runs a program within its limits. Undefined if this machine cannot isolate it. */
export async function isolate(program: IsolatedProgram, isolation: Isolation) {
  if ((await isolationFault()) !== undefined) return undefined;
  const { command, args, cwd } = program;
  const limits = toArguments(planMounts(program, isolation), isolation.network);
  return { command: findBubblewrap()!, args: [...limits, "--chdir", cwd, "--", command, ...args] };
}

function findBubblewrap(): string | undefined {
  return FOLDERS.map((folder) => `${folder}/bwrap`).find((path) => existsSync(path));
}

/**
 * The arguments of bubblewrap. The process is alone among processes, because it could read the memory, the variables
 * and through `/proc` all files of others. It ends with its parent.
 */
export function toArguments(mounts: readonly MountedPath[], network: Isolation["network"]): string[] {
  const [root, ...others] = mounts;
  return [
    ...mountArguments(root!),
    ...["--dev", "/dev", "--proc", "/proc"],
    ...others.flatMap(mountArguments),
    ...["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"],
    // Root reads files of others by these rights. None of them undoes a mount.
    ...(process.getuid?.() === 0 ? ROOT_MAY.flatMap((right) => ["--cap-add", right]) : []),
    ...(network === "none" ? ["--unshare-net"] : []),
  ];
}

function mountArguments({ path, access }: MountedPath): string[] {
  if (access === "empty") return ["--perms", "0700", "--tmpfs", path];
  if (access === "nothing") return ["--ro-bind", "/dev/null", path];
  return [access === "write" ? "--bind" : "--ro-bind", path, path];
}

/**
 * The absolute paths that texts name: a whole text, or the part after `=`, that is or begins with `/`, `.`, `..` or `~`. A
 * person has approved the arguments and variables of a server, so the paths in them are meant for it.
 */
export function pathsIn(texts: readonly string[], cwd: string, home: string): string[] {
  return texts.flatMap((text) => {
    const [, path] = /^(?:[^=/]*=)?(?:file:\/\/(?=\/))?((?:~|\.{0,2})\/.*|~|\.{1,2})$/s.exec(text) ?? [];
    if (path === undefined || path.includes("\0")) return [];
    return [path.startsWith("~") ? join(home, path.slice(1)) : resolve(cwd, path)];
  });
}
