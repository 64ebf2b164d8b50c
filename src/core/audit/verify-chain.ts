import {
  type AuditChain,
  type AuditHead,
  type AuditLine,
  type AuditRecord,
  EMPTY,
  readAuditLine,
} from "./audit-store.ts";

/** The result of verifying a chain. */
export interface ChainReport {
  readonly name: string;
  /** Intact records before the first bad one. */
  readonly records: number;
  readonly first?: AuditRecord;
  readonly last?: AuditRecord;
  /** The first record that was changed or is missing. */
  readonly bad?: { readonly place: string; readonly seq?: number; readonly reason: string };
  /** Gaps that the log itself admits. */
  readonly notes: readonly string[];
}

/** Checks each record's hash and position, and the head. Stops at the first bad one. `onRecord` gets intact ones. */
export async function verifyChain(
  { name, head, lines }: AuditChain,
  onRecord?: (record: AuditRecord) => void,
): Promise<ChainReport> {
  let records = 0;
  let first: AuditRecord | undefined;
  let last: AuditRecord | undefined;
  let keptFrom = 1;
  let place = name;
  const notes: string[] = [];
  const report = (bad?: ChainReport["bad"]): ChainReport => ({
    name,
    records,
    notes,
    ...(first && { first }),
    ...(last && { last }),
    ...(bad && { bad }),
  });

  for await (const line of lines()) {
    const record = readAuditLine(line.text);
    place = line.place;
    if (!record) return report({ place, seq: (last?.seq ?? 0) + 1, reason: "is not what was written" });
    const reason = misplaced(record, last, head);
    if (reason !== undefined)
      return report({ place, seq: Math.min(record.seq, (last?.seq ?? 0) + 1), reason });
    first ??= record;
    last = record;
    records += 1;
    onRecord?.(record);
    if (record.kind !== "log-opened") continue;
    keptFrom = record.keptFrom;
    notes.push(...admitted(record, place));
  }
  if (first && first.seq > keptFrom) {
    return report({
      place: name,
      seq: keptFrom,
      reason: `is missing, and so are all up to ${first.seq - 1}`,
    });
  }
  if (last && !head)
    return report({ place: name, reason: "has no readable head, so records may be cut off" });
  if (head && head.seq > (last?.seq ?? 0)) {
    const seq = (last?.seq ?? 0) + 1;
    return report({ place, seq, reason: `is missing: the log was cut off after it had ${head.seq} records` });
  }
  return report();
}

/** The reason why a record cannot follow the one before it. */
function misplaced(
  { seq, prev, hash }: AuditRecord,
  last: AuditRecord | undefined,
  head: AuditHead | undefined,
): string | undefined {
  if (seq === 1 && prev !== EMPTY.hash) return "does not begin a chain";
  if (last && seq !== last.seq + 1) {
    return seq > last.seq ? `is missing: record ${seq} follows` : "is out of order";
  }
  if (last && prev !== last.hash) return "does not follow the record before it";
  if (head?.seq === seq && head.hash !== hash) return "is not the record that the head names";
  return undefined;
}

function admitted(record: AuditRecord & { kind: "log-opened" }, place: string): string[] {
  const { seq, torn, dropped, headless } = record;
  const where = `${place}, record ${seq}`;
  return [
    ...(torn ? [`${where}: ${torn} bytes of an unfinished record were cut off after a crash`] : []),
    ...(dropped ? [`${where}: ${dropped} events are missing, because the log could not be written`] : []),
    ...(headless ? [`${where}: the head was missing, so records before it may be cut off`] : []),
  ];
}

/** A line with its record, if it is intact. */
export interface ReadLine extends AuditLine {
  readonly chain: string;
  readonly record: AuditRecord | undefined;
}

/** Reads several chains as one log, by time. `from` names the first record of each chain. */
export async function* mergeChains(
  chains: readonly AuditChain[],
  from: (chain: AuditChain) => number = () => 1,
): AsyncGenerator<ReadLine, void> {
  const readers = chains.map((chain) => readChain(chain, from(chain)));
  const next = await Promise.all(readers.map(async (reader) => (await reader.next()).value));
  for (;;) {
    let first: number | undefined;
    for (const [at, line] of next.entries()) {
      if (line && (first === undefined || timeOf(line) < timeOf(next[first]!))) first = at;
    }
    if (first === undefined) return;
    yield next[first]!;
    next[first] = (await readers[first]!.next()).value;
  }
}

async function* readChain(chain: AuditChain, from: number): AsyncGenerator<ReadLine, undefined> {
  for await (const line of chain.lines(from)) {
    const record = readAuditLine(line.text);
    if (!record || record.seq >= from) yield { ...line, chain: chain.name, record };
  }
  return undefined;
}

/** Damaged lines sort next to the record before them. */
function timeOf({ record }: ReadLine): string {
  return record?.at ?? "";
}
