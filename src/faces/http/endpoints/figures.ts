import { z } from "zod";
import type { AuditStore } from "../../../core/audit/audit-store.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import type { ShownRecord } from "./api-audit-types.ts";
import type { CallFigures, FiguresAnswer } from "./api-types.ts";
import { hasFailed, readBack, serverOf } from "./audited-calls.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";

const DAY_MS = 86_400_000;
/** An answer is given again for this long: a page that follows every call must not read the log each time. */
const SAME_MS = 3_000;
const MOST_ROWS = 50;
const MOST_ERRORS = 3;

/** Figures of calls that ran, from the audit log: they are as old as it, whatever was restarted. */
export function callFigureEndpoints({ gateway, recorder: { series } }: ConsoleParts): Endpoint[] {
  const { audit, clock } = faceApiOf(gateway);
  const known = new Map<number, { readonly at: number; readonly answer: Promise<FiguresAnswer> }>();
  return [
    defineAdminEndpoint("GET /api/figures", {
      title: "Calls by agent, server, tool and day: how many, how many failed and why, how long they took.",
      input: z.object({ days: z.coerce.number().int().min(1).max(90).default(7) }),
      handle: async ({ input: { days }, principal }): Promise<FiguresAnswer> => {
        const now = clock.now();
        const last = known.get(days);
        if (last && now - last.at < SAME_MS) return last.answer;
        const since = now - days * DAY_MS;
        const view = await gateway.view({ principal });
        const opOf = (address: string) => view.find(address)?.op ?? address;
        const tools = series.usesOf("tool", since);
        const tokensOf = {
          agents: series.usesOf("agent", since),
          days: await series.byDay(),
          tools: resultsBy(tools, opOf),
          servers: resultsBy(tools, (name) => serverOf({ op: opOf(name) })),
        };
        const answer = audit ? figuresOf(audit, since, tokensOf) : Promise.resolve(NONE);
        known.set(days, { at: now, answer });
        return answer;
      },
    }),
  ];
}

/** Tokens by the name of a row. Searches belong to no tool. */
interface RowTokens {
  readonly results: number;
  readonly discovery?: number;
}
type TokensOf = Readonly<Record<Part, ReadonlyMap<string, RowTokens>>>;

function resultsBy(
  uses: ReadonlyMap<string, RowTokens>,
  nameOf: (name: string) => string,
): ReadonlyMap<string, RowTokens> {
  const sums = new Map<string, RowTokens>();
  for (const [name, { results }] of uses)
    sums.set(nameOf(name), { results: (sums.get(nameOf(name))?.results ?? 0) + results });
  return sums;
}

const NONE: FiguresAnswer = { kept: false, agents: [], servers: [], tools: [], days: [] };

/** The part of the figures that a call counts in, by the name of the part. */
const PARTS = {
  agents: ({ principal = "" }: ShownRecord) => principal,
  servers: serverOf,
  tools: ({ op = "" }: ShownRecord) => op,
  days: ({ at }: ShownRecord) => at.slice(0, 10),
};
type Part = keyof typeof PARTS;

function figuresOf(log: AuditStore, since: number, tokensOf: TokensOf): Promise<FiguresAnswer> {
  const from = new Date(since).toISOString();
  return readBack(log, async (rows) => {
    const tallies = Object.fromEntries(Object.keys(PARTS).map((part) => [part, new Map<string, Tally>()]));
    let oldest: string | undefined;
    for await (const row of rows) {
      if (!row) continue;
      oldest ??= row.at;
      if (row.at < from || !isRun(row)) continue;
      for (const [part, nameOf] of Object.entries(PARTS)) count(tallies[part]!, nameOf(row), row);
    }
    const shown = (part: Part) =>
      [...tallies[part]!].map(([name, tally]) => {
        const { results: tokens, discovery: finding } = tokensOf[part].get(name) ?? {};
        return {
          ...toFigures(name, tally),
          ...(tokens !== undefined && { tokens: Math.round(tokens) }),
          ...(finding !== undefined && { finding: Math.round(finding) }),
        };
      });
    const busiest = (part: Part) => shown(part).toSorted(byCalls).slice(0, MOST_ROWS);
    const value = {
      kept: true,
      agents: busiest("agents"),
      servers: busiest("servers"),
      tools: busiest("tools"),
      days: shown("days").toSorted((one, other) => (one.name < other.name ? 1 : -1)),
    };
    return { value, needsMore: oldest !== undefined && oldest >= from };
  });
}

/** A call that ran or was refused; a dry run is neither. */
function isRun({ kind, decided }: ShownRecord): boolean {
  return ["call", "call-refused"].includes(kind) && decided !== "dry-run";
}

interface Tally {
  calls: number;
  failed: number;
  readonly errors: Map<string, number>;
  readonly ms: number[];
}

function count(tallies: Map<string, Tally>, name: string, row: ShownRecord): void {
  const tally: Tally = tallies.get(name) ?? { calls: 0, failed: 0, errors: new Map(), ms: [] };
  tallies.set(name, tally);
  tally.calls += 1;
  if (row.ms !== undefined) tally.ms.push(row.ms);
  if (!hasFailed(row)) return;
  const code = row.outcome ?? "";
  tally.failed += 1;
  tally.errors.set(code, (tally.errors.get(code) ?? 0) + 1);
}

function toFigures(name: string, { calls, failed, errors, ms }: Tally): CallFigures {
  const sorted = ms.toSorted((one, other) => one - other);
  const percentile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1];
  const most = [...errors].sort(([, one], [, other]) => other - one).slice(0, MOST_ERRORS);
  return {
    name,
    calls,
    failed,
    errors: most.map(([code, times]) => ({ code, times })),
    ms: { half: percentile(0.5), most: percentile(0.95), slowest: percentile(0.99) },
  };
}

function byCalls(one: CallFigures, other: CallFigures): number {
  return other.calls - one.calls;
}
