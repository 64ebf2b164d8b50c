import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, delimiter, dirname, join, resolve, sep } from "node:path";
import { makeFolder } from "../../base/util/make-folder.ts";
import { CODE_FILE, TEXT_FILE } from "../../core/nouns/server-program.ts";
import { CACHES, HELD_FILES, NAME_SERVICES, PRIVATE_PLACES, SHARED_PLACES, SYSTEM_PLACES } from "./places.ts";

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
  readonly access: "read" | "write" | "empty" | "nothing" | "link";
  /** The process may write and replace these files of the folder, and nothing else there. */
  readonly held?: HeldNames;
}

interface HeldNames {
  readonly names: readonly string[];
  /** The folder for folders that stand in. */
  readonly place: string;
}

/** The paths that an isolated process may write. */
export function writtenPaths(program: IsolatedProgram, isolation: Isolation): string[] {
  return planMounts(program, isolation).flatMap(({ path, access, held }) =>
    held ? held.names.map((name) => join(path, name)) : access === "write" ? [path] : [],
  );
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
  const [homeNames, files] = [homesOf(env), programFiles(program)];
  const homes = realPaths(homeNames);
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
    codeFolders([...files, ...open.filter(isCode)]).filter((path) => !isBroad(path)),
  );
  add(
    "write",
    realPaths([cwd]).filter((path) => !isBroad(path)),
  );
  const isClosed = (path: string) => isBroad(path) || privates.some((place) => contains(place, path));
  const held = heldFiles(open, homes, isClosed);
  for (const folder of held.keys()) if (!wanted.has(folder)) wanted.set(folder, "hide");
  const isHeld = (path: string) => held.get(dirname(path))?.names.includes(basename(path));
  add(
    "write",
    open.filter((path) => !isHeld(path)).flatMap((path) => writable(path, isClosed)),
  );
  // A server must not change what starts servers, if a package manager keeps it in a cache.
  add(main.includes("/node_modules/") ? "read" : "see", [packageFolder(main)]);
  const never = realPaths(hidden);
  for (const path of [...wanted.keys()])
    if (never.some((place) => contains(place, path))) wanted.delete(path);
  add("hide", never);
  const mounts = [...wanted]
    .filter(([path, access]) => held.has(path) || changes(path, access, wanted))
    .map(([path, access]): MountedPath => {
      const names = never.some((place) => contains(place, path)) ? undefined : held.get(path);
      if (names && access !== "write") return { path, access: "write", held: names };
      if (access !== "hide") return { path, access: access === "write" ? "write" : "read" };
      return { path, access: statSync(path).isDirectory() ? "empty" : "nothing" };
    });
  const beside = mounts.filter(({ path }) => wanted.get(path) !== "hide").flatMap(otherEntries);
  const isMounted = (path: string) => mounts.some((mount) => mount.path === path);
  const named = [...homeNames, ...files, cwd, ...open];
  return [...mounts, ...beside.filter(({ path }) => !isMounted(path)), ...linksOn(named, mounts)].sort(
    (left, right) => left.path.length - right.path.length,
  );
}

/** The links on the way to named paths that lie in hidden folders: without them the names would lead nowhere. */
function linksOn(named: readonly string[], mounts: readonly MountedPath[]): MountedPath[] {
  const links = new Set<string>();
  const follow = (path: string): void => {
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      const parent = realPath(dirname(at));
      const link = join(parent, basename(at));
      if (links.has(link) || !lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
      const above = mounts.filter((mount) => contains(mount.path, link));
      if (above.toSorted((one, other) => other.path.length - one.path.length)[0]?.access !== "empty")
        continue;
      links.add(link);
      follow(resolve(parent, readlinkSync(link)));
    }
  };
  for (const path of named) follow(path);
  return [...links].map((path) => ({ path, access: "link" }));
}

/**
 * The named texts in homes and private places, by folder: they can be replaced, though their folder is closed. A
 * database keeps other files beside its own, so it needs a folder.
 */
function heldFiles(
  open: readonly string[],
  homes: readonly string[],
  isClosed: (path: string) => boolean,
): ReadonlyMap<string, HeldNames> {
  const held = new Map<string, HeldNames>();
  for (const path of open.filter((text) => TEXT_FILE.test(text))) {
    const folder = dirname(path);
    const home = homes.find((one) => contains(one, folder));
    if (home === undefined || !isClosed(folder) || folder !== attempt(() => realpathSync(folder))) continue;
    if (open.some((other) => other !== path && contains(other, folder))) continue;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    const place = join(home, HELD_FILES);
    if ((facts && !facts.isFile()) || deviceOf(place) !== deviceOf(folder)) continue;
    held.set(folder, { names: [...new Set([...(held.get(folder)?.names ?? []), basename(path)])], place });
  }
  return held;
}

function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? deviceOf(dirname(path));
}

/** The entries of a folder beside its held files. Links are made anew in its place. */
function otherEntries({ path: folder, held }: MountedPath): MountedPath[] {
  if (!held) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink() && !held.names.includes(entry.name))
    .map(({ name }) => ({ path: join(folder, name), access: "read" }));
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

function homesOf(env: IsolatedProgram["env"]): string[] {
  return [env.HOME ?? homedir(), attempt(() => userInfo().homedir) ?? homedir()];
}

/** The folders with the code that runs, which may lie in a private place, such as an extension of an editor. */
function codeFolders(files: readonly string[]): string[] {
  return [...files, ...realPaths(files)].filter(isFile).map(packageFolder);
}

/** Node, and the file of the program. */
function programFiles({ command, env, cwd }: IsolatedProgram): string[] {
  const places = command.includes(sep)
    ? [resolve(cwd, command)]
    : (env.PATH ?? "").split(delimiter).map((folder) => resolve(cwd, folder, command));
  const program = places.find((path) => isFile(path));
  return [process.execPath, ...(program ? [program] : [])];
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
