import { z } from "zod";
import { toVisibleJson } from "../../../base/safety/visible-text.ts";
import type { AuditStore } from "../../../core/audit/audit-store.ts";
import { mergeChains, verifyChain } from "../../../core/audit/verify-chain.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import type { AuditAnswer, AuditReport, ShownRecord } from "./api-types.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";

const filterSchema = z.object({
  principal: z.string().optional(),
  /** A part of an op or route. */
  entry: z.string().optional(),
  outcome: z.string().optional(),
  trace: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
type Filter = z.output<typeof filterSchema>;

/** Records of each chain that a page looks at, from its end. */
const MOST_READ = 5_000;

/** The audit log: filtered, verified, exported. */
export function auditEndpoints({ gateway }: ConsoleParts): Endpoint[] {
  const store = () => faceApiOf(gateway).audit;
  return [
    defineAdminEndpoint("GET /api/audit", {
      title: "Records of the audit log, the newest first.",
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
      input: filterSchema.omit({ limit: true }),
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

async function newest(log: AuditStore, filter: Filter): Promise<Omit<AuditAnswer, "kept">> {
  await log.flush().catch(() => {});
  const records: ShownRecord[] = [];
  let damaged = 0;
  for await (const { record } of mergeChains(
    await log.chains(),
    ({ head }) => (head?.seq ?? 0) - MOST_READ,
  )) {
    if (!record) damaged += 1;
    else if (fits(record, filter)) records.push(record);
    if (records.length > filter.limit) records.shift();
  }
  return { records: records.reverse(), damaged };
}

function fits(record: ShownRecord, { principal, entry, outcome, trace }: Omit<Filter, "limit">): boolean {
  const { op = "", route = "", name = "", ...facts } = record;
  if (principal && ![facts.actor, facts.principal].includes(principal)) return false;
  if (outcome && (outcome === "failed" ? (facts.outcome ?? "ok") === "ok" : facts.outcome !== outcome))
    return false;
  if (trace && facts.traceId !== trace) return false;
  return !entry || [op, route, name].some((text) => text.includes(entry));
}
