import { z } from "zod";
import { toVisibleJson } from "../../../base/safety/visible-text.ts";
import type { AuditStore } from "../../../core/audit/audit-store.ts";
import { mergeChains, verifyChain } from "../../../core/audit/verify-chain.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import type { AuditAnswer, AuditReport, ShownRecord } from "./api-audit-types.ts";
import { hasFailed, readBack, serverOf } from "./audited-calls.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";

const OUTCOMES = ["ok", "failed", "dry-run", "asked"] as const;
const filterSchema = z.object({
  principal: z.string().optional(),
  server: z.string().optional(),
  /** A part of an op or route. */
  entry: z.string().optional(),
  outcome: z.enum(OUTCOMES).optional(),
  trace: z.string().optional(),
  /** Only records of before this time, in ISO 8601, or before the row that `older` of an answer names. */
  before: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
type Filter = z.output<typeof filterSchema>;

/** The audit log: filtered, verified, exported. */
export function auditEndpoints({ gateway }: ConsoleParts): Endpoint[] {
  const store = () => faceApiOf(gateway).audit;
  return [
    defineAdminEndpoint("GET /api/audit", {
      title: "Records of the audit log, the newest first; a call with its end is one row.",
      input: filterSchema,
      handle: async ({ input }): Promise<AuditAnswer> => {
        const log = store();
        return log ? { kept: true, ...(await newest(log, input)) } : { kept: false, records: [], damaged: 0 };
      },
    }),
    defineAdminEndpoint("GET /api/audit/verify", {
      title: "Checks every record of the audit log against its hash and its place.",
      handle: async (): Promise<AuditReport> => {
        const log = store();
        await log?.flush().catch(() => {});
        const reports = await Promise.all(((await log?.chains()) ?? []).map((chain) => verifyChain(chain)));
        return {
          chains: reports.map(({ name, records, bad, notes, last }) => ({
            name,
            records,
            notes,
            head: last && { seq: last.seq, hash: last.hash },
            bad,
          })),
        };
      },
    }),
    defineAdminEndpoint("GET /api/audit/export", {
      title: "The records that a filter leaves, one line of JSON each.",
      input: filterSchema.omit({ limit: true, before: true }),
      handle: async ({ input }) => {
        const lines: string[] = [];
        for await (const { record, text } of mergeChains((await store()?.chains()) ?? [])) {
          if (record && fits(record, input)) lines.push(toVisibleJson(text));
        }
        return new Response(lines.map((line) => `${line}\n`).join(""), {
          headers: {
            "content-type": "application/x-ndjson",
            "content-disposition": 'attachment; filename="keyhole-audit.jsonl"',
            "cache-control": "no-store",
          },
        });
      },
    }),
  ];
}

function newest(log: AuditStore, filter: Filter): Promise<Omit<AuditAnswer, "kept">> {
  const { limit, before } = filter;
  return readBack(log, async (rows) => {
    let found: ShownRecord[] = [];
    let damaged = 0;
    const latest = () => found.sort((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1));
    for await (const row of rows) {
      if (!row) damaged += 1;
      else if (fits(row, filter) && (!before || placeOf(row) < before)) found.push(row);
      if (found.length > 4 * limit) found = latest().slice(0, limit + 1);
    }
    const records = latest().slice(0, limit);
    const hasOlder = found.length > limit;
    const value = { records, damaged, ...(hasOlder && { older: placeOf(records.at(-1)!) }) };
    return { value, needsMore: !hasOlder };
  });
}

/** The place of a row in time. The hash tells rows of the same moment apart. */
function placeOf({ at, hash }: ShownRecord): string {
  return `${at} ${hash}`;
}

function fits(record: ShownRecord, { principal, server, entry, outcome, trace }: Partial<Filter>): boolean {
  const { op = "", route = "", name = "", ...facts } = record;
  if (principal && ![facts.actor, facts.principal].includes(principal)) return false;
  if (server && serverOf(record) !== server) return false;
  if (outcome && !FITS[outcome](record)) return false;
  if (trace && facts.traceId !== trace) return false;
  return !entry || [op, route, name].some((text) => text.includes(entry));
}

const FITS: Readonly<Record<(typeof OUTCOMES)[number], (record: ShownRecord) => boolean>> = {
  ok: ({ outcome, decided }) => outcome === "ok" && decided !== "dry-run",
  failed: hasFailed,
  "dry-run": ({ decided }) => decided === "dry-run",
  asked: ({ kind, outcome }) => kind === "call-asked" || outcome === "asks",
};
