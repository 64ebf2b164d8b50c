import { randomUUID } from "node:crypto";
import { isProblem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import type { AuditedCall } from "../audit/audit-store.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import type { Entry } from "../nouns/entry.ts";
import { flatShape } from "../telemetry/events.ts";
import type { CallScope } from "./call-environment.ts";
import type { AskingCall } from "./decide-call.ts";

/** How a call that runs was decided. */
export type Decided =
  | { readonly decided: "run" | "dry-run" }
  | { readonly decided: "approved"; readonly approvedBy: string };

/** The records of one call in the audit log. */
export interface CallRecord {
  /** Runs the call between the records of its start and its end. */
  run<T extends { readonly value: Json } | AskingCall>(how: Decided, run: () => Promise<T>): Promise<T>;
  /** Unless the call ran, records that it was refused or answered from an idempotency key. */
  settle(refusal?: unknown): void;
  /** Records that the call waits for a person, or that there is none. */
  asked(): void;
}

const MAX_ARGS = 32;
const MAX_NAME_CHARS = 64;
const MAX_CHARS = 512;
const UNRECORDED: CallRecord = { run: (_, run) => run(), settle: () => {}, asked: () => {} };

export function recordCall(entry: Entry, args: unknown, environment: CallScope): CallRecord {
  const { audit } = environment.services;
  if (!audit) return UNRECORDED;
  const about = describe(entry, args, environment);
  const { call, traceId, actor, principal, op, route } = about;
  let hasRun = false;

  return {
    run: async (how, run) => {
      const bounded =
        how.decided === "approved" ? { ...how, approvedBy: cutText(how.approvedBy, MAX_CHARS) } : how;
      const writes = entry.lane !== "read" && how.decided !== "dry-run";
      await audit.noteFirst({ kind: "call-started", ...about, ...bounded }, writes);
      hasRun = true;
      const started = performance.now();
      const end = (outcome: string, result?: string) => {
        const ms = Math.round(performance.now() - started);
        const ended = {
          kind: "call-ended",
          call,
          traceId,
          actor,
          principal,
          op,
          route,
          outcome,
          ms,
        } as const;
        audit.note({ ...ended, ...(result && { result }) });
      };
      try {
        const ran = await run();
        if ("asks" in ran) end("asks");
        else end("ok", flatShape(ran.value));
        return ran;
      } catch (error) {
        end(codeOf(error));
        throw error;
      }
    },
    settle: (refusal) => {
      if (hasRun) return;
      if (refusal === undefined) return audit.note({ kind: "call-repeated", ...about });
      const outcome = codeOf(refusal);
      const decided = outcome === "APPROVAL_DECLINED" ? "asked" : "refused";
      audit.note({ kind: "call-refused", ...about, decided, outcome });
    },
    asked: () => {
      if (hasRun) return;
      if (environment.asksLater) return audit.note({ kind: "call-asked", ...about });
      audit.note({ kind: "call-refused", ...about, decided: "asked", outcome: "APPROVAL_REQUIRED" });
    },
  };
}

function describe(entry: Entry, args: unknown, { request, view }: CallScope): AuditedCall {
  const { traceparent } = request.trace ?? {};
  const { id, seesAs = id } = view.principal;
  return {
    call: randomUUID(),
    traceId: request.traceId,
    ...(traceparent !== undefined && { traceparent: cutText(traceparent, MAX_CHARS) }),
    actor: cutText(id, MAX_CHARS),
    principal: cutText(seesAs, MAX_CHARS),
    op: cutText(entry.op, MAX_CHARS),
    route: cutText(entry.route, MAX_CHARS),
    entryKind: entry.kind,
    lane: entry.lane,
    definition: definitionHash(entry),
    args: shapesOf(args, entry),
  };
}

/** Names declared arguments only: the name of any other one may itself be a value. */
function shapesOf(args: unknown, { inputSchema }: Entry): Readonly<Record<string, string>> {
  const declared = field(inputSchema, "properties");
  const given = Object.entries(fieldsOf(args));
  const known = given.filter(([name]) => field(declared, name) !== undefined).slice(0, MAX_ARGS);
  const others = given.length - known.length;
  return Object.fromEntries([
    ...known.map(([name, value]) => [cutText(name, MAX_NAME_CHARS), flatShape(value)]),
    ...(others > 0 ? [["(others)", String(others)]] : []),
  ]);
}

function codeOf(error: unknown): string {
  return isProblem(error) ? error.code : "INTERNAL";
}
