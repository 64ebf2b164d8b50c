import { findAddressed } from "../calls/find-addressed.ts";
import type { GuidanceStep } from "../calls/guidance-steps.ts";
import type { WantedCall } from "../calls/make-call.ts";
import { makeCall } from "../calls/make-call.ts";
import type { Entry } from "../schema/entry.ts";
import type { Saying } from "../schema/say.ts";
import { readParams } from "../session/read-params.ts";
import { keeperOf } from "../session/result-keeper.ts";
import { RESULT_SCHEME } from "../session/result-store.ts";
import { isSessionAddress } from "../session/session-store.ts";
import type { Json } from "../util/json.ts";
import { asKnownProblem, type Failure, helpPathOf, notFound } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import type { Reading } from "./show-result.ts";
import { showSession } from "./show-session.ts";

/** The outcome of one address: the whole value, or the failure. */
export type CallOutcome = { readonly address: string; readonly entry?: Entry | undefined } & (
  | {
      readonly ok: true;
      readonly value: Json;
      readonly guidance: readonly GuidanceStep[];
      readonly warnings: readonly (string | Saying)[];
      readonly dryRun: boolean;
      readonly showUpTo?: number;
      /** The others who wrote the value; undefined for the owner's own tools. */
      readonly source?: string | undefined;
      /** Set if a stored result was read. */
      readonly reading?: Reading;
    }
  | { readonly ok: false; readonly failure: Failure }
);

/** Runs a tool, loads a document, or reads a stored result or a session, depending on the address. */
export async function callAddress(
  address: string,
  wanted: WantedCall,
  context: OperationContext,
): Promise<CallOutcome> {
  const addressed = findAddressed(address, context.view.find);
  const entry = addressed?.entry;
  const args = addressed?.params ? { ...addressed.params, ...(wanted.args as object) } : wanted.args;
  try {
    if (entry) {
      const made = await makeCall(entry, { ...wanted, args }, context);
      return { ...made, address, entry, ok: true, source: sourceOf(entry) };
    }
    const read = await readHandle(address, args ?? {}, context);
    // A handle does not tell whose text it keeps.
    const source = address.startsWith(RESULT_SCHEME) ? "result" : undefined;
    return { address, ok: true, ...read, guidance: [], warnings: [], dryRun: false, source };
  } catch (error) {
    const helpPath = helpPathOf(entry?.op ?? address, context.view);
    const name = entry?.op ?? address;
    const source = entry && sourceOf(entry);
    const failure = { problem: asKnownProblem(error, name), helpPath, source, entry };
    return { address, entry, ok: false, failure };
  }
}

function sourceOf({ outside, domain }: Entry): string | undefined {
  return outside ? domain : undefined;
}

type Read = { readonly value: Json; readonly reading?: Reading };

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
  const { readResult } = await import("../session/read-result.ts");
  const how = readParams(handle, params);
  const { value, ...place } = readResult(await keeperOf(results).read(handle, view), how);
  return { value, reading: { handle, how, ...place } };
}
