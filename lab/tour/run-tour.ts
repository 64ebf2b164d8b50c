import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { installTool } from "../../scripts/tool.ts";
import { loadTokenCounter } from "../../src/base/tokens/tokens.ts";
import type { LabClient } from "../lab-client.ts";
import { spawnInNamespace } from "../namespace.ts";
import type { RunOptions } from "../run-client.ts";
import { UNMET } from "./outcomes.ts";
import { lostBehind, type TourRow, toRow } from "./rows.ts";
import { SIZES, type Size } from "./servers.ts";
import { type TourAssignment, type TourObserved, WAYS, type Way } from "./tour.ts";

/** Runs the tours of one client, one after the other: a busy machine starts servers late. */
export async function tourClient(client: LabClient, options: RunOptions): Promise<TourRow[]> {
  const countTokens = await loadTokenCounter();
  const { installed, version, serveArgs, keep } = options;
  // Without a network it cannot be installed.
  installTool("servers");
  const rows: TourRow[] = [];
  for (const size of SIZES)
    for (const way of WAYS) {
      const about = { client: client.name, way, size };
      const assignment = { ...about, installed, dist: resolve("dist"), serveArgs };
      const observed = whole(way, await runTour(assignment, keep));
      if (typeof observed === "string")
        console.error(`${client.title}, ${way}, ${size} servers: ${observed}`);
      else rows.push(toRow({ ...about, version }, observed, countTokens));
    }
  return rows;
}

/** A client that gave up on a slow server has made another tour, with which nothing can be compared. */
function whole(way: Way, observed: TourObserved | string): TourObserved | string {
  if (way === "keyhole" || typeof observed === "string") return observed;
  const lost = observed.lost.filter((id) => id !== UNMET);
  return lost.length === 0 ? observed : `the client offers no tool for ${lost.join(", ")}; run it again`;
}

/** Runs one tour. Returns what was observed, or why there is nothing. */
async function runTour(
  assignment: Omit<TourAssignment, "folder">,
  keep: boolean,
): Promise<TourObserved | string> {
  const { client, way, size } = assignment;
  const folder = await mkdtemp(join(tmpdir(), `kh-tour-${client}-${way}-${size}-`));
  const inside = resolve(import.meta.dirname, "inside.ts");
  try {
    const child = spawnInNamespace(process.execPath, [inside, JSON.stringify({ ...assignment, folder })]);
    const [stderr] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    if (keep) console.error(`${client} ${way} ${size}: ${folder}`);
    const found = await readFile(join(folder, "observed.json"), "utf8").catch(() => undefined);
    if (!found) return `the tour broke: ${stderr.trim().slice(-1_000)}`;
    const observed = JSON.parse(found) as TourObserved;
    return observed.code === null ? `the client never ended: ${observed.output.slice(-300)}` : observed;
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

/** Prints a line for each client and size. Returns whether every bar holds. */
export function printTours(rows: readonly TourRow[]): boolean {
  let isGood = true;
  for (const { direct, behind } of tourPairs(rows)) {
    const missed = missedBars(direct, behind);
    isGood &&= missed.length === 0;
    console.log(
      `${direct.client} ${direct.version}, ${direct.size} servers: direct ${figures(direct)}, behind Keyhole ${figures(behind)}, ${change(direct, behind)}; ${missed.length === 0 ? "ok" : missed.join("; ")}`,
    );
  }
  return isGood;
}

/** Tours of one client and size, direct and behind Keyhole. */
export function tourPairs(rows: readonly TourRow[]): { direct: TourRow; behind: TourRow }[] {
  return rows
    .filter(({ way }) => way === "direct")
    .flatMap((direct) => {
      const { client, size } = direct;
      const behind = rows.find((row) => row.way === "keyhole" && row.client === client && row.size === size);
      return behind ? { direct, behind } : [];
    });
}

/** Clients that hide tools by themselves. At eight servers Keyhole is to take a tenth less than they do. */
const DEFERRING: ReadonlySet<string> = new Set(["claude-code", "codex", "qwen", "droid"]);

function missedBars(direct: TourRow, behind: TourRow): string[] {
  const most = direct.size === (8 satisfies Size) && DEFERRING.has(direct.client) ? 0.9 : 1;
  return [
    ...(behind.sum > direct.sum * most ? [`the sum is over ${most} of direct`] : []),
    ...(behind.requests > direct.requests + 1 ? [`${behind.requests - direct.requests} requests more`] : []),
    ...lostBehind(direct, behind).map((what) => `lost: ${what}`),
  ];
}

/** Requests, first request, results and sum of input. */
export function figures({ requests, first, results, sum }: TourRow): string {
  return [requests, ...[first, results, sum].map((each) => each.toLocaleString("en"))].join(" / ");
}

/** How much the sum of input differs: `−34 %`. */
export function change(direct: TourRow, behind: TourRow): string {
  const percent = Math.round((behind.sum / direct.sum - 1) * 100);
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent)} %`;
}
