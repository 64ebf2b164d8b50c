import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, delimiter, dirname, join, resolve, sep } from "node:path";
import { makeFolder } from "../../base/util/make-folder.ts";
import { CODE_FILE } from "../../core/nouns/server-program.ts";
import { CACHES, NAME_SERVICES, PRIVATE_PLACES, SHARED_PLACES, SYSTEM_PLACES } from "./places.ts";

/** The limits of one process: everything that decides what it sees and reaches. */
export interface Isolation {
  /** Folders and files that it may use beside its own folder, which a person has named. */
  readonly open: readonly string[];
  /** Paths that it never sees, whatever is open: Keyhole's own. */
  readonly hidden: readonly string[];
  /** The hosts that it reaches: all, none, or those of a list, as `name`, `*.name` or either with `:port`. */
  readonly network: "all" | "none" | readonly string[];
  /** Called for each host that the process asks a proxy for. */
  onHost?(host: string, isListed: boolean): void;
}

/** A program that is to be started. */
export interface IsolatedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** A path as an isolated process has it: `empty` is an empty folder, `nothing` an empty file. */
export interface MountedPath {
  readonly path: string;
  readonly access: "read" | "write" | "empty" | "nothing";
}

/** `see`: read-only where the path would be hidden otherwise. */
type Access = "hide" | "see" | "read" | "write";

/**
 * Plans the file system of an isolated process, from the root to the deepest path: everything can be read except the
 * private places of people and programs; its own folder, the opened paths and caches can be written. The deeper path
 * wins, so an opened folder within a private place is open, and a private place within an opened folder is private.
 */
export function planMounts(program: IsolatedProgram, { open, hidden, network }: Isolation): MountedPath[] {
  const { env, cwd } = program;
  const main = realPath(process.argv[1] ?? process.execPath);
  const homes = realPaths([env.HOME ?? homedir(), attempt(() => userInfo().homedir) ?? homedir()]);
  const isBroad = (path: string) =>
    SHARED_PLACES.includes(path) || homes.some((home) => contains(path, home));
  const wanted = new Map<string, Access>([["/", "read"]]);
  const add = (access: Access, paths: readonly string[]) => {
    for (const path of realPaths(paths)) wanted.set(path, access);
  };
  const inHomes = (places: readonly string[]) =>
    homes.flatMap((home) => places.map((place) => join(home, place)));
  add("hide", SHARED_PLACES);
  add("read", [...SYSTEM_PLACES, ...(network === "all" ? NAME_SERVICES : []), ...homes]);
  const privates = realPaths(inHomes(PRIVATE_PLACES));
  add("hide", privates);
  add("write", [...inHomes(CACHES), ...cachesOf(program)]);
  // It names the registry that packages come from.
  if (NPM.test(basename(program.command))) add("read", inHomes([".npmrc"]));
  add(
    "see",
    codeFolders(program, open).filter((path) => !isBroad(path)),
  );
  add(
    "write",
    realPaths([cwd]).filter((path) => !isBroad(path)),
  );
  const isClosed = (path: string) => isBroad(path) || privates.some((place) => contains(place, path));
  add(
    "write",
    open.flatMap((path) => writable(path, isClosed)),
  );
  // A server must not change what starts servers, if a package manager keeps it in a cache.
  add(main.includes("/node_modules/") ? "read" : "see", [packageFolder(main)]);
  const never = realPaths(hidden);
  for (const path of [...wanted.keys()])
    if (never.some((place) => contains(place, path))) wanted.delete(path);
  add("hide", never);
  return [...wanted]
    .sort(([left], [right]) => left.length - right.length)
    .filter(([path, access]) => changes(path, access, wanted))
    .map(([path, access]): MountedPath => {
      if (access !== "hide") return { path, access: access === "write" ? "write" : "read" };
      return { path, access: statSync(path).isDirectory() ? "empty" : "nothing" };
    });
}

/** Whether the path would be different without its own entry. */
function changes(path: string, access: Access, wanted: ReadonlyMap<string, Access>): boolean {
  if (path === "/") return true;
  for (let at = dirname(path); ; at = dirname(at)) {
    const above = wanted.get(at);
    if (above !== undefined) return access === "see" ? above === "hide" : above !== access;
  }
}

const NPM = /^(?:npm|npx|pnpm|pnpx|yarn|bunx?|corepack)$/;
const UV = /^uvx?$/;

/** The caches of the program that starts a server. They are made if they are missing. */
function cachesOf({ command, args, env }: IsolatedProgram): string[] {
  const home = env.HOME ?? homedir();
  const name = basename(command);
  const caches = [
    env.XDG_CACHE_HOME || join(home, ".cache"),
    ...(NPM.test(name) ? [join(home, ".npm")] : []),
    ...(UV.test(name) ? [join(home, ".local/share/uv")] : []),
    // It keeps the logins of remote servers.
    ...(args.some((word) => word.includes("mcp-remote")) ? [join(home, ".mcp-auth")] : []),
  ];
  for (const cache of caches) attempt(() => makeFolder(cache));
  return caches;
}

const PACKAGES = ["package.json", "pyproject.toml", ".git"];

/** The folders with the code that runs, which may lie in a private place, such as an extension of an editor. */
function codeFolders({ command, env, cwd }: IsolatedProgram, open: readonly string[]): string[] {
  const places = command.includes(sep)
    ? [resolve(cwd, command)]
    : (env.PATH ?? "").split(delimiter).map((folder) => resolve(cwd, folder, command));
  const program = places.find((path) => isFile(path));
  const files = [process.execPath, ...(program ? [program] : []), ...open.filter(isCode)];
  return [...files, ...realPaths(files)].filter(isFile).map(packageFolder);
}

/** The folder of the package that a file belongs to. Packages of npm have their dependencies beside them. */
function packageFolder(file: string): string {
  const [, modules] = /^(.*?\/node_modules)\//.exec(file) ?? [];
  if (modules !== undefined) return modules;
  for (let at = dirname(file); at !== dirname(at); at = dirname(at))
    if (PACKAGES.some((name) => existsSync(join(at, name)))) return at;
  return dirname(file);
}

const SYSTEM = /^\/(?:usr|bin|sbin|lib\w*|etc|opt|boot|dev|proc|sys|nix)\//;

/**
 * A named folder. For a named file its folder, because programs write beside it, unless that is a home or a private
 * place.
 */
function writable(path: string, isClosed: (path: string) => boolean): string[] {
  if (isCode(path)) return [];
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts?.isDirectory()) return [path];
  // A program that an argument names, such as a browser, is not to be changed.
  if (SYSTEM.test(realPath(path))) return [];
  const folder = dirname(path);
  if (existsSync(folder) && !isClosed(realPath(folder))) return [folder];
  return facts ? [path] : [];
}

/** Whether a path is code, also by a link without its ending, such as those in `node_modules/.bin`. */
function isCode(path: string): boolean {
  return CODE_FILE.test(path) || CODE_FILE.test(realPath(path));
}

/** Paths that exist, without links. */
function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).map(realPath))];
}

function realPath(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether a path is another one or above it. */
function contains(path: string, other: string): boolean {
  return other === path || other.startsWith(path.endsWith(sep) ? path : path + sep);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
