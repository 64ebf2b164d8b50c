import { resolve } from "node:path";
import { installTool } from "../../scripts/tool.ts";
import { loadTokenCounter } from "../../src/base/tokens/tokens.ts";
import type { LabClient } from "../lab-client.ts";
import { observe } from "../observe.ts";
import type { RunOptions } from "../run-client.ts";
import { UNMET } from "./outcomes.ts";
import { lostBehind, type TourRow, toRow } from "./rows.ts";
import { SIZES, type Size } from "./servers.ts";
import { type TourObserved, WAYS, type Way } from "./tour.ts";

/** Runs the tours of one client, one after the other: a busy machine starts servers late. */
export async function tourClient(
  client: LabClient,
  options: RunOptions,
  ways: readonly Way[] = WAYS,
): Promise<TourRow[]> {
  const countTokens = await loadTokenCounter();
  const { installed, version, serveArgs, keep } = options;
  // Without a network it cannot be installed.
  installTool("servers");
  const rows: TourRow[] = [];
  for (const size of SIZES)
    for (const way of ways) {
      const about = { client: client.name, way, size };
      const assignment = { ...about, installed, dist: resolve("dist"), serveArgs };
      const observed = whole(way, await observe<TourObserved>(import.meta.dirname, assignment, keep));
      if (typeof observed === "string")
        console.error(`${client.title}, ${way}, ${size} servers: ${observed}`);
      else rows.push(toRow({ ...about, version }, observed, countTokens));
    }
  return rows;
}

/** A client that gave up on a slow server has made another tour, with which nothing can be compared. */
function whole(way: Way, observed: TourObserved | string): TourObserved | string {
  if (typeof observed === "string") return observed;
  if (observed.moves.length === 0) return `the client sent nothing: ${observed.output.slice(-300)}`;
  if (way === "keyhole") return observed;
  const lost = observed.lost.filter((id) => id !== UNMET);
  return lost.length === 0 ? observed : `the client offers no tool for ${lost.join(", ")}; run it again`;
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
export function tourPairs(
  rows: readonly TourRow[],
  behindBy: Way = "keyhole",
): { direct: TourRow; behind: TourRow }[] {
  return rows
    .filter(({ way }) => way === "direct")
    .flatMap((direct) => {
      const { client, size } = direct;
      const behind = rows.find((row) => row.way === behindBy && row.client === client && row.size === size);
      return behind ? { direct, behind } : [];
    });
}

/** Clients that hide tools by themselves. At eight servers Keyhole is to take a tenth less than they do. */
export const DEFERRING: ReadonlySet<string> = new Set(["claude-code", "codex", "qwen", "droid"]);

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
