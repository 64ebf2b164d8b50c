// node scripts/tool.ts TOOL PROGRAM [argument …]: runs a program of `tools/TOOL`. Tools that single steps need are not
// in the project's own install. The first use installs them, exactly as their lock files say.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = resolve(import.meta.dirname, "..");
/** Peers such as vitest are found in the project, one folder further up. */
const INSTALL = [
  "ci",
  "--legacy-peer-deps",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];
/** Codes of npm's errors if the registry cannot be reached. */
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

/** Raised if a tool is not installed and the registry cannot be reached. */
export class RegistryUnreachable extends Error {}

/** Installs a tool unless it is there as its lock file says, and returns its folder. */
export function installTool(name: string): string {
  const folder = join(ROOT, "tools", name);
  const lock = readFileSync(join(folder, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex");
  const packages = join(folder, "node_modules");
  const isCurrent = () => readIfThere(join(packages, ".lock-hash")) === hash;
  if (isCurrent()) return folder;
  console.error(`Installing tools/${name} …`);
  // Several processes may install the same tool. Each uses a folder of its own, and one of them is kept.
  const making = join(folder, `node_modules.${process.pid}`);
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making);
  try {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(folder, file), join(making, file));
    const { status, stdout, stderr } = spawnSync("npm", INSTALL, {
      cwd: making,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    if (status !== 0) throw toError(name, `${stdout ?? ""}${stderr ?? ""}`);
    writeFileSync(join(making, "node_modules/.lock-hash"), hash);
    if (!isCurrent()) {
      rmSync(packages, { recursive: true, force: true });
      renameSync(join(making, "node_modules"), packages);
    }
  } catch (error) {
    if (!isCurrent()) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Imports a module of a tool. */
export async function importTool<Module>(name: string, path: string): Promise<Module> {
  return import(pathToFileURL(toolFile(name, path)).href);
}

/** Finds a module of a tool. */
export function toolFile(name: string, path: string): string {
  return createRequire(join(installTool(name), "package.json")).resolve(path);
}

/** Lets this process import packages of a tool by their names, as if the project had them. */
export function offerTool(name: string, prefix: string): void {
  const parentURL = pathToFileURL(join(installTool(name), "package.json")).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, specifier.startsWith(prefix) ? { ...context, parentURL } : context),
  });
}

/** Runs a program of a tool in the project's folder. Returns its exit code. */
function runTool(name: string, program: string, args: readonly string[]): number {
  const PATH = [join(installTool(name), "node_modules/.bin"), process.env.PATH].join(delimiter);
  const { status } = spawnSync(program, args, {
    stdio: "inherit",
    env: { ...process.env, PATH },
    shell: process.platform === "win32",
  });
  return status ?? 1;
}

function toError(name: string, output: string): Error {
  const line = output.split("\n").find((text) => text.includes("error")) ?? output;
  const sentence = `npm cannot install tools/${name}: ${line.trim()}`;
  return UNREACHABLE.test(output) ? new RegistryUnreachable(sentence) : new Error(sentence);
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

if (import.meta.main) {
  const [name = "", program = "", ...args] = process.argv.slice(2);
  process.exitCode = runTool(name, program, args);
}
