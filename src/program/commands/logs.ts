import { open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { toVisibleJson, toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { readAuditFolder } from "../../core/audit/audit-folder.ts";
import type { AuditChain, AuditRecord } from "../../core/audit/audit-store.ts";
import { mergeChains, type ReadLine, verifyChain } from "../../core/audit/verify-chain.ts";
import { DOES } from "../../core/nouns/entry.ts";
import { daemonPaths } from "../daemon/daemon-paths.ts";
import { KEY_MARK } from "../open/agent-tokens.ts";
import { openStateOf } from "../open/open-state.ts";
import { auditFolder } from "../open/stores.ts";
import { type CommandInput, defineCommand, invalid } from "../terminal/define-command.ts";
import { COUNT_MOST } from "../terminal/shared-options.ts";

/** The most of the daemon's log that is read at once. */
const MAX_BYTES = 4 * 1024 * 1024;
const FOLLOW_MS = 500;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MIN_HASH_CHARS = 16;

const OPTIONS = {
  number: { short: "n", takes: "NUMBER", most: COUNT_MOST, default: 50, help: "how many lines" },
  follow: { short: "f", help: "go on with new ones as they come" },
  all: { help: "all calls, instead of the newest" },
  since: {
    takes: "TIME",
    help: "all calls since a date such as 2026-01-31, or an age such as 30m, 12h or 7d",
  },
  agent: { takes: "NAME", help: "only calls of this agent, or of the caller with this id" },
  json: { help: "one line of JSON for each line, calls as they are stored" },
  folder: { takes: "DIRECTORY", help: "the record of calls to read (default: the one in the state folder)" },
  config: { takes: "FILE", help: "read the record of calls where this config keeps its state" },
  contains: {
    takes: "HASH",
    help: "verify also requires the record with this hash, such as a head that you noted earlier",
  },
} as const;
type LogsInput = CommandInput<typeof OPTIONS>;

export const logs = defineCommand({
  name: "logs",
  page: "audit.md",
  words: { "": "[SERVER]", calls: "", verify: "" },
  about: `Shows the newest lines of the log of the daemon that serves your clients: servers that start, fail and
    restart, and calls that fail. With SERVER, only lines that name it. LOG_LEVEL=debug, or logging.level in the config,
    says more.

    calls shows who called what, how that was decided and how it ended; never the values. verify checks every such
    record and names the first one that was changed, moved or removed.`,
  options: OPTIONS,
  notes: "verify exits with 1 if the record of calls is not intact, calls if it met damaged records.",
  run: async (input) => {
    // The reader of a pipe may leave.
    if (input.follow) process.stdout.on("error", () => process.exit(0));
    if (input.action === "") return showDaemonLog(input);
    await (input.action === "verify" ? verify : showCalls)(await openChains(input), input);
  },
});

type ReadChains = () => Promise<readonly AuditChain[]>;

/** The chains of a folder, or of the database that a config names. */
async function openChains({ folder, config }: LogsInput): Promise<ReadChains> {
  const state = folder === undefined ? await openStateOf(config) : undefined;
  return async () => (state ? state.audit.chains() : readAuditFolder(folder ?? auditFolder()));
}

async function showDaemonLog({ words: [server], number: count, follow, json }: LogsInput): Promise<void> {
  const print = (line: string) => console.log(json ? JSON.stringify({ line }) : toVisibleLine(line));
  const path = daemonPaths().log;
  const isWanted = (line: string) => line !== "" && (server === undefined || line.includes(server));
  const { lines, end } = await readFrom(path, 0);
  const newest = count === 0 ? [] : lines.filter(isWanted).slice(-count);
  for (const line of newest) print(line);
  if (newest.length === 0 && !follow && !json)
    console.log(`No lines in ${path}. A client that starts Keyhole makes some.`);
  for (let from = end; follow; ) {
    await sleep(FOLLOW_MS);
    const more = await readFrom(path, from);
    from = more.end;
    for (const line of more.lines.filter(isWanted)) print(line);
  }
}

/** Whole lines from a place on, at most the last megabytes. A file that began anew is read from its start. */
async function readFrom(path: string, from: number): Promise<{ lines: string[]; end: number }> {
  const size = await stat(path).then(
    (facts) => facts.size,
    () => 0,
  );
  const start = Math.max(size < from ? 0 : from, size - MAX_BYTES);
  if (size === start) return { lines: [], end: size };
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    const text = buffer.toString("utf8", 0, bytesRead);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return { lines: whole.split("\n"), end: start + Buffer.byteLength(whole) };
  } finally {
    await file.close();
  }
}

async function verify(read: ReadChains, { contains, folder }: LogsInput): Promise<void> {
  if (contains !== undefined && contains.length < MIN_HASH_CHARS)
    throw invalid("logs", `--contains needs at least ${MIN_HASH_CHARS} digits of a hash`);
  const chains = await read();
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
  if (chains.length === 0) console.log(`${toVisibleLine(folder ?? auditFolder())} has no records.`);
  if (!isContained) console.log(`No intact record has the hash ${toVisibleLine(contains ?? "")}.`);
  if (!isIntact || !isContained) process.exitCode = 1;
}

/** Whether a caller has this id, or is a key of this agent. */
function isOf(agent: string): (id: string) => boolean {
  return (id) =>
    id === agent || id.startsWith(`${agent}${KEY_MARK}`) || id.startsWith(`agent:${agent}${KEY_MARK}`);
}

async function showCalls(read: ReadChains, input: LogsInput): Promise<void> {
  const { number: count, follow, all, since, agent, json } = input;
  const isWhole = all || since !== undefined;
  const earliest = since === undefined ? "" : new Date(timeOf(since)).toISOString();
  const seen = new Map<string, number>();
  const isWanted = ({ chain, record }: ReadLine) => {
    if (!record) return true;
    seen.set(chain, record.seq);
    return record.at >= earliest && (agent === undefined || namesOf(record).some(isOf(agent)));
  };
  const print = (line: ReadLine) => printRecord(line, json ? () => toVisibleJson(line.text) : showRecord);
  const newest: ReadLine[] = [];
  const isFiltered = isWhole || agent !== undefined;
  const first = ({ head }: { head?: { seq: number } | undefined }) => (head?.seq ?? 0) - count + 1;
  for await (const line of mergeChains(await read(), isFiltered ? undefined : first)) {
    if (!isWanted(line)) continue;
    if (isWhole) print(line);
    else if (newest.push(line) > count) newest.shift();
  }
  for (const line of newest) print(line);
  while (follow) {
    await sleep(FOLLOW_MS);
    const grown = (await read()).filter(({ name, head }) => (head?.seq ?? 0) > (seen.get(name) ?? 0));
    for await (const line of mergeChains(grown, ({ name }) => (seen.get(name) ?? 0) + 1))
      if (isWanted(line)) print(line);
  }
}

/** The caller, and the principal that it looked as. */
function namesOf(record: AuditRecord): readonly string[] {
  return "principal" in record ? [...new Set([record.actor, record.principal])] : [];
}

function printRecord({ record, place }: ReadLine, show: (record: AuditRecord) => string): void {
  if (record) console.log(show(record));
  else {
    console.error(`${place} is damaged: keyhole logs verify checks the log.`);
    process.exitCode = 1;
  }
}

function timeOf(since: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
  const time = unit === undefined ? Date.parse(since) : Date.now() - Number(count) * UNIT_MS[unit as "m"];
  if (Number.isNaN(time))
    throw invalid("logs", "--since needs a date such as 2026-01-31 or an age such as 12h");
  return time;
}

const SHORT = 8;

/** A record as one line for a person. Control characters are spelt out. */
function showRecord(record: AuditRecord): string {
  try {
    const parts = [
      record.at,
      `#${record.seq}`,
      record.kind.padEnd(13),
      namesOf(record).join(" as "),
      ...factsOf(record),
    ];
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
      return [
        `${DOES[lane]}, ${decided}${approvedBy === undefined ? "" : ` by ${approvedBy}`}`,
        argsOf(args),
      ];
    }
    case "call-ended":
      return [`${record.outcome} in ${record.ms} ms`, record.result ?? ""];
    case "call-refused":
      return [`${DOES[record.lane]}, ${record.decided}: ${record.outcome}`, argsOf(record.args)];
    case "call-asked":
      return [`${DOES[record.lane]}, asks a person`, argsOf(record.args)];
    case "call-repeated":
      return ["answered from its idempotency key"];
  }
}

function argsOf(args: Readonly<Record<string, string>>): string {
  const shapes = Object.entries(args).map(([name, shape]) => `${name}: ${shape}`);
  return `{${shapes.join(", ")}}`;
}
