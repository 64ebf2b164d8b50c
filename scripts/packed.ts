import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The built package, packed and installed into an empty folder as a stranger would do it. */
export interface Installed {
  readonly folder: string;
  readonly tarball: string;
  /** The file that `npx keyhole` runs. */
  readonly program: string;
  remove(): void;
}

/** Packs `dist/` and installs it with the registry's packages. Throws npm's own words if that fails. */
export function installPacked(): Installed {
  const parent = mkdtempSync(join(tmpdir(), "keyhole-packed-"));
  npm(["pack", "--pack-destination", parent], resolve("dist"));
  const [tarball] = globSync(join(parent, "*.tgz"));
  const folder = join(parent, "project");
  mkdirSync(folder);
  npm(["init", "-y"], folder);
  npm(["install", "--no-audit", "--no-fund", tarball!], folder);
  return {
    folder,
    tarball: tarball!,
    program: join(folder, "node_modules/.bin/keyhole"),
    remove: () => rmSync(parent, { recursive: true, force: true }),
  };
}

/** A Node of that version from the registry, kept in the cache folder. Undefined where none is built for. */
export function fetchNode(version: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const name = `node-linux-${process.arch}`;
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyhole-nodes", version);
  const program = join(folder, "node_modules", name, "bin/node");
  if (existsSync(program)) return program;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, "package.json"), "{}");
  npm(["install", "--no-audit", "--no-fund", `${name}@${version}`], making);
  rmSync(folder, { recursive: true, force: true });
  renameSync(making, folder);
  return program;
}

function npm(args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd,
    encoding: "utf8",
    // npm is a script of the shell there.
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed:\n${stdout}${stderr}`);
}
