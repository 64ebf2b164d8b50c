import { setTimeout as sleep } from "node:timers/promises";
import { toVisibleJson, toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { readAuditFolder } from "../../core/audit/audit-folder.ts";
import type { AuditRecord } from "../../core/audit/audit-store.ts";
import { mergeChains, type ReadLine, verifyChain } from "../../core/audit/verify-chain.ts";
import { auditFolder } from "../open/stores.ts";
import { type CommandInput, defineCommand, invalid } from "../terminal/define-command.ts";
import { COUNT_MOST, FOLLOW } from "../terminal/shared-options.ts";

const FOLLOW_MS = 500;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MIN_HASH_CHARS = 16;

const OPTIONS = {
  folder: { takes: "DIRECTORY", help: "the log to read (default: the one in the state folder)" },
  contains: {
    takes: "HASH",
    help: "also require the record with this hash, such as a head that you noted earlier",
  },
  number: { short: "n", takes: "NUMBER", most: COUNT_MOST, default: 20, help: "how many records tail shows" },
  follow: FOLLOW,
  json: { help: "records as stored, one line of JSON each" },
  since: { takes: "TIME", help: "a date such as 2026-01-31, or an age such as 30m, 12h or 7d" },
  principal: { takes: "ID", help: "only records of this caller" },
} as const;

export const audit = defineCommand({
  name: "audit",
  page: "audit.md",
  words: { verify: "", tail: "", export: "" },
  forms: [
    "verify [--contains HASH]",
    "tail [-n NUMBER] [--follow]",
    "export [--json] [--since TIME] [--principal ID]",
  ],
  about: `Reads the audit log: who called what, how that was decided and how it ended. Values are never in it. verify
    checks every record and names the first one that was changed, moved or removed. tail shows the newest records,
    export all.`,
  options: OPTIONS,
  notes: "verify exits with 1 if the log is not intact, tail and export if they found damaged records.",
  run: async (input) => ACTIONS[input.action]?.(input.folder ?? auditFolder(), input),
});

type AuditInput = CommandInput<typeof OPTIONS>;

const ACTIONS: Readonly<Record<string, (folder: string, options: AuditInput) => Promise<void>>> = {
  verify,
  tail,
  export: exportRecords,
};

async function verify(folder: string, { contains }: AuditInput): Promise<void> {
  if (contains !== undefined && contains.length < MIN_HASH_CHARS)
    throw invalid("audit", `--contains needs at least ${MIN_HASH_CHARS} digits of a hash`);
  const chains = readAuditFolder(folder);
  let isIntact = true;
  let isContained = contains === undefined;
  for (const chain of chains) {
    const { name, records, first, last, bad, notes } = await verifyChain(chain, ({ hash }) => {
      if (contains !== undefined && hash.startsWith(contains)) isContained = true;
    });
    if (bad) {
      isIntact = false;
      const what = bad.seq === undefined ? name : `record ${bad.seq}`;
      console.log(
        `${name}: ${bad.place}: ${what} ${bad.reason}. ${countOf(records, "record before it is", "records before it are")} intact.`,
      );
    } else if (first && last) {
      const span = `${first.at} to ${last.at}`;
      console.log(
        `${name}: ${countOf(records, "record is", "records are")} intact, ${span}. Head: ${last.seq} ${last.hash}`,
      );
    }
    for (const note of notes) console.log(`${name}: ${note}.`);
  }
  if (chains.length === 0) console.log(`${toVisibleLine(folder)} has no records.`);
  if (!isContained) console.log(`No intact record has the hash ${toVisibleLine(contains ?? "")}.`);
  if (!isIntact || !isContained) process.exitCode = 1;
}

async function tail(folder: string, { number: count, follow }: AuditInput): Promise<void> {
  const seen = new Map<string, number>();
  const newest: ReadLine[] = [];
  for await (const line of mergeChains(readAuditFolder(folder), ({ head }) => (head?.seq ?? 0) - count + 1)) {
    newest.push(line);
    note(line, seen);
    if (newest.length > count) newest.shift();
  }
  for (const line of newest) print(line, showRecord);
  // The reader of a pipe may leave.
  if (follow) process.stdout.on("error", () => process.exit(0));
  while (follow) {
    await sleep(FOLLOW_MS);
    const grown = readAuditFolder(folder).filter(
      ({ name, head }) => (head?.seq ?? 0) > (seen.get(name) ?? 0),
    );
    for await (const line of mergeChains(grown, ({ name }) => (seen.get(name) ?? 0) + 1)) {
      note(line, seen);
      print(line, showRecord);
    }
  }
}

function note({ chain, record }: ReadLine, seen: Map<string, number>): void {
  if (record) seen.set(chain, record.seq);
}

async function exportRecords(folder: string, { json, since, principal }: AuditInput): Promise<void> {
  const from = since === undefined ? "" : new Date(timeOf(since)).toISOString();
  for await (const line of mergeChains(readAuditFolder(folder))) {
    const { record, text } = line;
    if (record && record.at < from) continue;
    if (record && principal !== undefined && whoOf(record) !== principal) continue;
    print(line, json ? () => toVisibleJson(text) : showRecord);
  }
}

function whoOf(record: AuditRecord): string {
  return "principal" in record ? record.principal : "";
}

function print({ record, place }: ReadLine, show: (record: AuditRecord) => string): void {
  if (record) console.log(show(record));
  else {
    console.error(`${place} is damaged: keyhole audit verify checks the log.`);
    process.exitCode = 1;
  }
}

function timeOf(since: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
  const time = unit === undefined ? Date.parse(since) : Date.now() - Number(count) * UNIT_MS[unit as "m"];
  if (Number.isNaN(time))
    throw invalid("audit", "--since needs a date such as 2026-01-31 or an age such as 12h");
  return time;
}

const SHORT = 8;

/** A record as one line for a person. Control characters are spelt out. */
function showRecord(record: AuditRecord): string {
  try {
    const parts = [record.at, `#${record.seq}`, record.kind.padEnd(13), whoOf(record), ...factsOf(record)];
    return toVisibleLine(parts.filter((part) => part !== "").join("  "));
  } catch {
    // Somebody else wrote the record.
    return toVisibleLine(JSON.stringify(record));
  }
}

function factsOf(record: AuditRecord): string[] {
  // Records of one call carry the same short id.
  if ("call" in record)
    return [record.op || record.route, ...callFacts(record), `call ${record.call.slice(0, SHORT)}`];
  if (record.kind !== "log-opened") return [record.what, record.name, record.digest.slice(0, 2 * SHORT)];
  const { pid, keptFrom, torn, dropped, headless } = record;
  return [
    `by process ${pid}`,
    keptFrom > 1 ? `kept from record ${keptFrom}` : "",
    torn ? `${countOf(torn, "byte")} of an unfinished record cut off` : "",
    dropped ? `${countOf(dropped, "event")} missing` : "",
    headless ? "the head was missing" : "",
  ];
}

function callFacts(record: Extract<AuditRecord, { call: string }>): string[] {
  switch (record.kind) {
    case "call-started": {
      const { decided, approvedBy, lane, args } = record;
      return [`${lane}, ${decided}${approvedBy === undefined ? "" : ` by ${approvedBy}`}`, argsOf(args)];
    }
    case "call-ended":
      return [`${record.outcome} in ${record.ms} ms`, record.result ?? ""];
    case "call-refused":
      return [`${record.lane}, ${record.decided}: ${record.outcome}`, argsOf(record.args)];
    case "call-asked":
      return [`${record.lane}, asks a person`, argsOf(record.args)];
    case "call-repeated":
      return ["answered from its idempotency key"];
  }
}

function argsOf(args: Readonly<Record<string, string>>): string {
  const shapes = Object.entries(args).map(([name, shape]) => `${name}: ${shape}`);
  return `{${shapes.join(", ")}}`;
}
