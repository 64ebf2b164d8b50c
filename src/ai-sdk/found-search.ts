import type { Gateway } from "../gateway-api.ts";
import { coreOf } from "../gateway-core.ts";
import type { AskOutput } from "../operations/ask-input.ts";
import { blocksOf } from "../operations/blocks-of.ts";
import type { Entry } from "../schema/entry.ts";
import { discover } from "../session/working-memory.ts";
import { callOperation, toEntryCall } from "../toolbox.ts";
import { addressOf } from "../util/address-of.ts";
import type { ModeOptions } from "./disclosed-tools.ts";
import type { NamedTools } from "./named-tools.ts";
import { traced } from "./to-sdk-tool.ts";
import {
  DEFAULT_LIMIT,
  type ToolSearchInput,
  type ToolSearchOutput,
  toSearchOutput,
  toSearchText,
  withEntry,
} from "./tool-search.ts";

/** Further hits are only named: a call of one discovers it. */
const MOST_NAMED = 2;

/** Searches for a model. A call of a tool that the model has not seen finds that tool, and makes the call if it only reads. */
export function createFoundSearch(
  gateway: Gateway,
  named: NamedTools,
  { call, session, trace }: Pick<ModeOptions, "call" | "session" | "trace">,
): (input: ToolSearchInput, signal?: AbortSignal) => Promise<ToolSearchOutput> {
  return async (input, signal) => {
    const entry = input.call && named.entries.get(input.call.name);
    const discovers = entry ? 1 : (input.limit ?? DEFAULT_LIMIT);
    const limit = entry ? discovers : discovers + MOST_NAMED;
    const options = { ...call, ...(signal && { signal }), ...traced(trace) };
    const makes = entry && input.call?.input !== undefined && (await onlyReads(entry, input.call.input));
    const toOutput = (answer: AskOutput) => {
      const output = toSearchOutput(input.query, answer, discovers, (route) => named.names.get(route));
      return entry ? withEntry(output, named.definition(input.call!.name)!) : output;
    };
    const { ok, text, data } = await callOperation(
      gateway,
      { operation: "ask", input: { query: entry?.op ?? input.query, limit } },
      {
        ...options,
        discovers,
        toText: (answer) => toSearchText({ ...toOutput(answer as AskOutput), ...(makes && { result: "" }) }),
      },
    );
    if (!ok) return { tools: [], rules: "", instruction: text };
    const output = toOutput(data as AskOutput);
    if (!entry) return output;
    // A hidden entry can be called by its name, but no search finds it.
    await session.update((memory) => discover(memory, [addressOf(entry)]));
    if (!makes) return output;
    const made = await callOperation(gateway, toEntryCall(entry, input.call?.input), options);
    const blocks = blocksOf(made.data);
    return { ...output, result: made.text, ...(blocks.length > 0 && { blocks }) };
  };

  /** A tool that changes something is called only once the model has seen its definition. */
  async function onlyReads(entry: Entry, args: unknown): Promise<boolean> {
    const { operation, input } = toEntryCall(entry, args);
    const decisions = await coreOf(gateway).decide(operation, input, call);
    const isRead = (await gateway.view(call)).find(entry.route)?.lane === "read";
    return isRead && decisions.every((decision) => decision.do === "run");
  }
}
