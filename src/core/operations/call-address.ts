import type { MessageTemplate } from "../../base/problems/format-message.ts";
import type { Json } from "../../base/util/json.ts";
import { resolveAddress } from "../access/view.ts";
import type { AskingCall } from "../calls/decide-call.ts";
import { approvalRequired, makeCall, type ResolvedCall } from "../calls/make-call.ts";
import type { GuidanceStep } from "../calls/run-entry.ts";
import type { Entry } from "../nouns/entry.ts";
import { readParams } from "../sessions/read-params.ts";
import { keeperOf } from "../storage/result-keeper.ts";
import { RESULT_SCHEME } from "../storage/result-store.ts";
import { isSessionAddress } from "../storage/session-store.ts";
import { type FailedOperation, helpPathOf, notFound, toOperationProblem } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import type { ResultReading } from "./show-result.ts";
import { showSession } from "./show-session.ts";

/** The outcome of one address: the whole value, the failure, or the question for a person. */
export type CallOutcome = { readonly address: string; readonly entry?: Entry | undefined } & (
  | {
      readonly is: "done";
      readonly value: Json;
      readonly guidance: readonly GuidanceStep[];
      readonly warnings: readonly (string | MessageTemplate)[];
      readonly dryRun: boolean;
      readonly showUpTo?: number;
      /** Server that produced the value (untrusted text); undefined for the owner's own tools. */
      readonly source?: string | undefined;
      /** Set if a stored result was read. */
      readonly reading?: ResultReading;
    }
  | { readonly is: "failed"; readonly failure: FailedOperation }
  | ({ readonly is: "asks" } & AskingCall)
);

/** Runs a tool, loads a document, or reads a stored result or a session, depending on the address. */
export async function callAddress(
  address: string,
  wanted: ResolvedCall,
  context: OperationContext,
): Promise<CallOutcome> {
  const addressed = resolveAddress(address, context.view.find);
  const entry = addressed?.entry;
  const args = addressed?.params ? { ...addressed.params, ...(wanted.args as object) } : wanted.args;
  try {
    if (entry) {
      const call = await makeCall(entry, { ...wanted, args }, context);
      if ("asks" in call) return { ...call, address, entry, is: "asks" };
      return { ...call, address, entry, is: "done", source: call.source ?? sourceOf(entry) };
    }
    const read = await readHandle(address, args ?? {}, context);
    // The server behind a stored value is unknown, so its text counts as untrusted.
    const source = address.startsWith(RESULT_SCHEME) ? "result" : undefined;
    return { address, is: "done", ...read, guidance: [], warnings: [], dryRun: false, source };
  } catch (error) {
    const helpPath = helpPathOf(entry?.op ?? address, context.view);
    const name = entry?.op ?? address;
    // The error of a recipe may quote text that it read.
    const source = entry && ("code" in entry ? entry.domain : sourceOf(entry));
    const failure = { problem: toOperationProblem(error, name), helpPath, source, entry };
    return { address, entry, is: "failed", failure };
  }
}

/** The problem of an address without a value. An unanswered question is a failure, too. */
export function failureOf(outcome: Exclude<CallOutcome, { is: "done" }>): FailedOperation {
  if (outcome.is === "failed") return outcome.failure;
  return { problem: approvalRequired(outcome), helpPath: outcome.asks.op, entry: outcome.entry };
}

function sourceOf({ outside, domain }: Entry): string | undefined {
  return outside ? domain : undefined;
}

type Read = { readonly value: Json; readonly reading?: ResultReading };

async function readHandle(address: string, params: unknown, context: OperationContext): Promise<Read> {
  if (address.startsWith(RESULT_SCHEME)) return readStored(address, params, context);
  if (isSessionAddress(address)) return { value: await showSession(address, params, context) };
  throw notFound(address, context);
}

async function readStored(
  handle: string,
  params: unknown,
  { results, view }: OperationContext,
): Promise<Read> {
  // Loaded on demand: its parsers of paths and patterns are large, and a start does not need them.
  const { readResult } = await import("../sessions/read-result.ts");
  const how = readParams(handle, params);
  const { value, ...place } = readResult(await keeperOf(results).read(handle, view), how);
  return { value, reading: { handle, how, ...place } };
}
