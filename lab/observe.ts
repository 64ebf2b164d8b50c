import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { spawnInNamespace } from "./namespace.ts";

/**
 * Runs the `inside.ts` of a folder in a namespace, with an empty folder for everything that it writes. Returns what was
 * observed, or why there is nothing.
 */
export async function observe<T extends { readonly code: number | null; readonly output: string }>(
  script: string,
  assignment: { readonly client: string; readonly way: string; readonly size: number },
  keep: boolean,
): Promise<T | string> {
  const name = `${assignment.client}-${assignment.way}-${assignment.size}`;
  const folder = await mkdtemp(join(tmpdir(), `kh-lab-${name}-`));
  try {
    const args = [join(script, "inside.ts"), JSON.stringify({ ...assignment, folder })];
    const child = spawnInNamespace(process.execPath, args);
    const [stderr] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    if (keep) console.error(`${name}: ${folder}`);
    const found = await readFile(join(folder, "observed.json"), "utf8").catch(() => undefined);
    if (!found) return `the run broke: ${stderr.trim().slice(-1_000)}`;
    const observed = JSON.parse(found) as T;
    return observed.code === null ? `the client never ended: ${observed.output.slice(-300)}` : observed;
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}
