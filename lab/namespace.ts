import { type ChildProcess, spawn, spawnSync } from "node:child_process";

/** A network with loopback only, and processes that end with the first of them. */
const FLAGS = ["--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"];
const SCRIPT = 'ip link set lo up && exec "$@"';

/** Why no namespace can be had here, or undefined. */
export function whyNoNamespace(): string | undefined {
  const { status, error, stderr } = spawnSync("unshare", [...FLAGS, "sh", "-c", SCRIPT, "sh", "true"], {
    encoding: "utf8",
    timeout: 10_000,
  });
  if (status === 0) return undefined;
  return `no network namespace: ${error?.message ?? (stderr.trim() || `exit code ${status}`)}`;
}

export function spawnInNamespace(command: string, args: readonly string[]): ChildProcess {
  return spawn("unshare", [...FLAGS, "sh", "-c", SCRIPT, "sh", command, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
}
