import type { AuditRecord } from "../audit/audit-store.ts";
import { toVisibleLine } from "../util/visible-text.ts";

const SHORT = 8;

/** A record as one line for a person. Control characters are spelt out. */
export function showRecord(record: AuditRecord): string {
  try {
    const who = "principal" in record ? record.principal : "";
    const parts = [record.at, `#${record.seq}`, record.kind.padEnd(13), who, ...factsOf(record)];
    return toVisibleLine(parts.filter((part) => part !== "").join("  "));
  } catch {
    // Somebody else wrote the record.
    return toVisibleLine(JSON.stringify(record));
  }
}

function factsOf(record: AuditRecord): string[] {
  switch (record.kind) {
    case "call-started": {
      const { decided, approvedBy, lane } = record;
      const how = approvedBy === undefined ? decided : `${decided} by ${approvedBy}`;
      return [nameOf(record), `${lane}, ${how}`, argsOf(record.args), callOf(record)];
    }
    case "call-ended": {
      const { outcome, ms, result = "" } = record;
      return [nameOf(record), `${outcome} in ${ms} ms`, result, callOf(record)];
    }
    case "call-refused":
      return [
        nameOf(record),
        `${record.lane}, ${record.decided}: ${record.outcome}`,
        argsOf(record.args),
        callOf(record),
      ];
    case "call-repeated":
      return [nameOf(record), "answered from its idempotency key", callOf(record)];
    case "allowed":
    case "revoked":
      return [record.what, record.name, record.digest.slice(0, 2 * SHORT)];
    case "log-opened": {
      const { pid, keptFrom, torn, dropped, headless } = record;
      return [
        `by process ${pid}`,
        keptFrom > 1 ? `kept from record ${keptFrom}` : "",
        torn ? `${torn} bytes of an unfinished record cut off` : "",
        dropped ? `${dropped} events missing` : "",
        headless ? "the head was missing" : "",
      ];
    }
  }
}

/** Records of one call carry the same short id. */
function callOf({ call }: { readonly call: string }): string {
  return `call ${call.slice(0, SHORT)}`;
}

function nameOf({ op, route }: { readonly op: string; readonly route: string }): string {
  return op || route;
}

function argsOf(args: Readonly<Record<string, string>>): string {
  return `{${Object.entries(args)
    .map(([name, shape]) => `${name}: ${shape}`)
    .join(", ")}}`;
}
