// The peers have a package of their own, so that the product does not carry them. It is installed on first use.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../peers/", import.meta.url));
const requirePeer = createRequire(`${FOLDER}package.json`);

/** What a peer's package exports, as far as `T` says. */
export function loadPeer<T>(name: string): T {
  return requirePeer(name) as T;
}

/** Why the peers cannot be had, or nothing. All output goes to stderr, since stdout has the figures. */
export function installPeers(): string | undefined {
  if (existsSync(`${FOLDER}node_modules/.package-lock.json`)) return undefined;
  console.error("scale: installing the peers (once)");
  // Prebuilt binaries come as packages: no script has to run.
  const { status, error } = spawnSync(
    "npm",
    ["ci", "--ignore-scripts", "--loglevel=error", "--prefix", FOLDER],
    {
      stdio: ["ignore", process.stderr, process.stderr],
      shell: process.platform === "win32",
    },
  );
  return status === 0
    ? undefined
    : `npm ci failed in bench/peers (${error?.message ?? `exit code ${status}`})`;
}
