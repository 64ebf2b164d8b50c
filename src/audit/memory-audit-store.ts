import { type Clock, systemClock } from "../util/clock.ts";
import { EMPTY, toAuditLine } from "./audit-line.ts";
import type { AuditLine, AuditStore } from "./audit-store.ts";

/** Keeps the audit log in memory, for tests. */
export function createMemoryAuditStore(clock: Pick<Clock, "now"> = systemClock): AuditStore {
  const lines: AuditLine[] = [];
  let head = EMPTY;
  return {
    add: (event) => {
      const line = toAuditLine(head, event, clock.now());
      ({ head } = line);
      lines.push({ text: line.text, place: `memory:${head.seq}` });
    },
    flush: async () => {},
    chains: async () => [
      {
        name: "memory",
        head,
        lines: async function* (from = 1) {
          yield* lines.slice(from - 1);
        },
      },
    ],
    close: async () => {},
  };
}
