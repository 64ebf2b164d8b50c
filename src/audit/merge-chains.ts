import { readAuditLine } from "./audit-line.ts";
import type { AuditChain, AuditLine, AuditRecord } from "./audit-store.ts";

/** A line with its record. A damaged line has none. */
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

/** Damaged lines come first, next to the record before them. */
function timeOf({ record }: ReadLine): string {
  return record?.at ?? "";
}
