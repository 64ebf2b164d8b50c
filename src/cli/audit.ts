import { setTimeout as sleep } from "node:timers/promises";
import { readAuditFolder } from "../audit/audit-folder.ts";
import type { AuditRecord } from "../audit/audit-store.ts";
import { mergeChains, type ReadLine } from "../audit/merge-chains.ts";
import { verifyChain } from "../audit/verify-chain.ts";
import { problem } from "../schema/problem.ts";
import { toVisibleJson, toVisibleLine } from "../util/visible-text.ts";
import { auditFolder } from "./open-audit.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { showRecord } from "./show-record.ts";

const USAGE = `Usage: keyhole audit verify [--contains HASH]
       keyhole audit tail [-n NUMBER] [--follow]
       keyhole audit export [--json] [--since TIME] [--principal ID]

Reads the audit log: who called what, how that was decided and how it ended. Values are never in it. verify checks
every record and names the first one that was changed, moved or removed. tail shows the newest records, export all.

  --folder DIRECTORY   the log to read (default: the one in the state folder)
  --contains HASH      also require the record with this hash, such as a head that you noted earlier
  -n, --number NUMBER  how many records tail shows (default: 20)
  -f, --follow         go on with new records as they come
  --json               records as stored, one line of JSON each
  --since TIME         a date such as 2026-01-31, or an age such as 30m, 12h or 7d
  --principal ID       only records of this caller
  -h, --help

verify exits with 1 if the log is not intact, tail and export if they found damaged records.`;

const FOLLOW_MS = 500;
const DEFAULT_TAIL = 20;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MIN_HASH_CHARS = 16;

type Options = ReturnType<typeof readOptions>["values"];

const ACTIONS: Readonly<Record<string, (folder: string, options: Options) => Promise<void>>> = {
  verify,
  tail,
  export: exportRecords,
};

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readOptions(args);
  if (values.help) return console.log(USAGE);
  const [name = "", ...more] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action || more.length > 0) throw invalid("the usage is keyhole audit verify, tail or export");
  await action(values.folder ?? auditFolder(), values);
}

async function verify(folder: string, { contains }: Options): Promise<void> {
  if (contains !== undefined && contains.length < MIN_HASH_CHARS) {
    throw invalid(`--contains needs at least ${MIN_HASH_CHARS} digits of a hash`);
  }
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
      console.log(`${name}: ${bad.place}: ${what} ${bad.reason}. ${records} records before it are intact.`);
    } else if (first && last) {
      const span = `${first.at} to ${last.at}`;
      console.log(`${name}: ${records} records are intact, ${span}. Head: ${last.seq} ${last.hash}`);
    }
    for (const note of notes) console.log(`${name}: ${note}.`);
  }
  if (chains.length === 0) console.log(`${toVisibleLine(folder)} has no records.`);
  if (!isContained) console.log(`No intact record has the hash ${toVisibleLine(contains ?? "")}.`);
  if (!isIntact || !isContained) process.exitCode = 1;
}

async function tail(folder: string, { number, follow }: Options): Promise<void> {
  const count = number === undefined ? DEFAULT_TAIL : Number(number);
  if (!Number.isInteger(count) || count < 0) throw invalid("-n needs a number");
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

async function exportRecords(folder: string, { json, since, principal }: Options): Promise<void> {
  const from = since === undefined ? "" : new Date(timeOf(since)).toISOString();
  for await (const line of mergeChains(readAuditFolder(folder))) {
    const { record, text } = line;
    if (record && record.at < from) continue;
    if (record && principal !== undefined && !isOf(record, principal)) continue;
    print(line, json ? () => toVisibleJson(text) : showRecord);
  }
}

function isOf(record: AuditRecord, principal: string): boolean {
  return "principal" in record && record.principal === principal;
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
  if (Number.isNaN(time)) throw invalid("--since needs a date such as 2026-01-31 or an age such as 12h");
  return time;
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("audit", args, {
    folder: TEXT,
    contains: TEXT,
    number: { type: "string", short: "n" },
    follow: { type: "boolean", short: "f", default: false },
    json: FLAG,
    since: TEXT,
    principal: TEXT,
  });
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "audit", reason });
}
