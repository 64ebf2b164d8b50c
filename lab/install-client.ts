import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { LabClient } from "./lab-client.ts";

/** A client that is installed, or the reason why it is not. */
export type Installed = { readonly folder: string; readonly version: string } | { readonly reason: string };

/** The clients have a folder of their own, outside the project: they are hundreds of megabytes. */
function cacheFolder(): string {
  return (
    process.env.KEYHOLE_CLIENTS ||
    join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyhole-clients")
  );
}

/** Installs a client from npm, once for each version. `newest` asks the registry for the newest versions. */
export function installClient({ name, packages }: LabClient, newest: boolean): Installed {
  const [main = ""] = Object.keys(packages);
  const wanted = Object.entries(packages).map(([pack, version]) => `${pack}@${newest ? "latest" : version}`);
  const folder = join(cacheFolder(), newest ? `${name}-latest` : `${name}-${packages[main]}`);
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
    });
    if (status !== 0 || !existsSync(manifest)) {
      const why =
        error?.message ??
        stderr
          .trim()
          .split("\n")
          .find((line) => line.includes("error")) ??
        `exit code ${status}`;
      return { reason: `npm cannot install ${wanted.join(" ")}: ${why}` };
    }
    writeFileSync(done, "");
  }
  return { folder, version: JSON.parse(readFileSync(manifest, "utf8")).version };
}
