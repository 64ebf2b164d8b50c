// The peers have their own package, so that Keyhole does not depend on them. It is installed on first use.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../peers/", import.meta.url));
const requirePeer = createRequire(`${FOLDER}package.json`);

/** Imports a peer's package as type `T`. */
export function loadPeer<T>(name: string): T {
  return requirePeer(name) as T;
}

/** Why the peers cannot be installed, or undefined. Output goes to stderr, because stdout has the figures. */
export function installPeers(): string | undefined {
  if (existsSync(`${FOLDER}node_modules/.package-lock.json`)) return undefined;
  console.error("scale: installing the peers (once)");
  // Prebuilt binaries come as packages, so no install script has to run.
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
