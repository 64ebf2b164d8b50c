import type { AuditStore } from "../../../core/audit/audit-store.ts";
import { mergeChains } from "../../../core/audit/verify-chain.ts";
import type { ShownRecord } from "./api-audit-types.ts";

/** Records of each chain that are read first, from its end. */
const FIRST_READ = 5_000;
const READ_MORE = 4;

/** The calls that a reader of the log has gathered, and whether earlier records could add to them. */
interface ReadBack<T> {
  readonly value: T;
  readonly needsMore: boolean;
}

/**
 * Reads the audit log from its end, further back until the reader needs no more: `read` gets all rows of the newest
 * records, the oldest first, and starts anew each time.
 */
export async function readBack<T>(
  log: AuditStore,
  read: (rows: AsyncIterable<ShownRecord | undefined>) => Promise<ReadBack<T>>,
): Promise<T> {
  await log.flush().catch(() => {});
  const chains = await log.chains();
  const longest = Math.max(0, ...chains.map(({ head }) => head?.seq ?? 0));
  for (let depth = FIRST_READ; ; depth *= READ_MORE) {
    const lines = mergeChains(chains, ({ head }) => Math.max(1, (head?.seq ?? 0) - depth + 1));
    const { value, needsMore } = await read(toRows(lines));
    if (!needsMore || depth >= longest) return value;
  }
}

/**
 * Records of the log, a call as one row: its start with its end. A call that has not ended comes last. Undefined stands
 * for a damaged record.
 */
async function* toRows(lines: ReturnType<typeof mergeChains>): AsyncGenerator<ShownRecord | undefined> {
  const started = new Map<string, ShownRecord>();
  for await (const { record } of lines) {
    if (record?.kind === "call-started") started.set(record.call, record);
    else if (record?.kind === "call-ended") {
      yield { ...record, ...started.get(record.call), outcome: record.outcome, ms: record.ms, kind: "call" };
      started.delete(record.call);
    } else yield record;
  }
  yield* started.values();
}

/** The server or domain that a record is about. */
export function serverOf({ op, route, name, what }: Partial<ShownRecord>): string {
  if (what === "server") return name ?? "";
  const address = route ?? name ?? "";
  return address.includes("://") ? address.split("://", 1)[0]! : (op ?? "").split(".", 1)[0]!;
}

/** Whether a call has failed or was refused. A question to a person is neither. */
export function hasFailed({ outcome, kind }: ShownRecord): boolean {
  return kind === "call-refused" || !["ok", "asks", undefined].includes(outcome);
}
