import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Packages that are installed, or the reason why they are not. */
export type Installed = { readonly folder: string; readonly version: string } | { readonly reason: string };

/** Packages with their versions, the most important first. */
export type Packages = Readonly<Record<string, string>>;

/** Programs of others have a folder of their own, outside the project: they are hundreds of megabytes. */
export function cacheFolder(kind: string): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return process.env.KEYHOLE_PROGRAMS
    ? join(process.env.KEYHOLE_PROGRAMS, kind)
    : join(base, `keyhole-${kind}`);
}

/** Installs packages from npm, once for each version. `newest` asks the registry for the newest versions instead. */
export function installPackages(
  kind: "clients" | "peers",
  name: string,
  packages: Packages,
  newest = false,
): Installed {
  const [main = ""] = Object.keys(packages);
  const wanted = Object.entries(packages).map(([pack, version]) => `${pack}@${newest ? "latest" : version}`);
  const folder = join(cacheFolder(kind), newest ? `${name}-latest` : `${name}-${packages[main]}`);
  const manifest = join(folder, "node_modules", main, "package.json");
  const done = join(folder, ".installed");
  if (newest || !existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...wanted];
    const { status, stderr, error } = spawnSync("npm", args, {
      cwd: folder,
      encoding: "utf8",
      timeout: 180_000,
      shell: process.platform === "win32",
    });
    if (status !== 0 || !existsSync(manifest)) {
      const line = (stderr ?? "").split("\n").find((text) => text.includes("error"));
      return {
        reason: `npm cannot install ${wanted.join(" ")}: ${error?.message ?? line ?? `exit code ${status}`}`,
      };
    }
    writeFileSync(done, "");
  }
  return { folder, version: JSON.parse(readFileSync(manifest, "utf8")).version };
}

/** Installs packages from PyPI into an environment of their own, once for each version. */
export function installPython(name: string, packages: Packages): Installed {
  const [version = ""] = Object.values(packages);
  const folder = join(cacheFolder("peers"), `${name}-${version}`);
  const done = join(folder, ".installed");
  if (existsSync(done)) return { folder, version };
  const wanted = Object.entries(packages).map(([pack, number]) => `${pack}==${number}`);
  const pip = [join(folder, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", ...wanted];
  for (const [command = "", ...args] of [["python3", "-m", "venv", folder], pip]) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8", timeout: 900_000 });
    if (status === 0) continue;
    const line = (stderr ?? "").trim().split("\n").at(-1);
    return {
      reason: `pip cannot install ${wanted.join(" ")}: ${error?.message ?? (line || `exit code ${status}`)}`,
    };
  }
  writeFileSync(done, "");
  return { folder, version };
}
