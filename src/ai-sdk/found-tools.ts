import type { StepResult, ToolSet } from "ai";
import type { Gateway } from "../gateway-api.ts";
import { nativeTools, toNativeTool } from "../operations/native-tools.ts";
import type { Entry } from "../schema/entry.ts";
import { callEntry, callOperation } from "../toolbox.ts";
import { argsOf, asksFirst, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";
import {
  createToolSearch,
  TOOL_SEARCH,
  type ToolSearchInput,
  type ToolSearchOutput,
  toSearchOutput,
} from "./tool-search.ts";

/** Vendors take no more than 128 tools in one request. */
const MOST_ACTIVE = 120;
const GET = "get";
const INSTRUCTIONS = `Use ${TOOL_SEARCH} to find the tools you need, by saying what you want to do; it also gives the rules for using them. Search again when you need more. If you can answer without tools, answer directly.`;

/** Every entry is a tool of its own; those are active that were discovered. */
export async function createFoundTools(
  gateway: Gateway,
  { call, session, byApplication, names = "names" }: ModeOptions,
): Promise<DisclosedTools> {
  const view = await gateway.view(call);
  const menu = await gateway.menu(call);
  const entries = withoutReserved(nativeTools(view.entries, names));
  const nameOf = new Map([...entries].map(([name, { route }]) => [route, name]));

  async function search(input: ToolSearchInput, signal?: AbortSignal): Promise<ToolSearchOutput> {
    const { query, limit, call: made } = input;
    const options = { ...call, ...(signal && { signal }) };
    const found = await gateway.ask({ query, ...(limit && { limit }) }, options);
    const output = toSearchOutput(query, found, (route) => nameOf.get(route));
    const entry = made && entries.get(made.name);
    // What changes something is only called by who has seen what it is.
    if (entry?.lane !== "read" || asksFirst(entry)) return output;
    return { ...output, result: (await callEntry(gateway, entry, made?.input, options)).text };
  }

  function discovered(): string[] {
    const { discoveredTools, unveiled } = session.memory;
    return [...discoveredTools, ...unveiled].flatMap((address) => {
      const entry = view.find(address);
      return (entry && nameOf.get(entry.route)) ?? [];
    });
  }

  const entryTools = [...entries].map(([name, entry]) => [
    name,
    toSdkTool(
      toNativeTool(name, entry),
      (input, signal) => callEntry(gateway, entry, input, { ...call, ...(signal && { signal }) }),
      byApplication && asksFirst(entry),
    ),
  ]);
  const reader = toSdkTool(menu.find(({ name }) => name === GET)!, (input, signal) =>
    callOperation(gateway, "get", input, { ...call, ...(signal && { signal }) }),
  );
  return {
    tools: { [TOOL_SEARCH]: createToolSearch(search), [GET]: reader, ...Object.fromEntries(entryTools) },
    instructions: INSTRUCTIONS,
    active: (steps) => {
      const found = [...new Set([...discovered(), ...steps.flatMap(foundIn)])].slice(-MOST_ACTIVE);
      // Documents and stored results are read by `get`; before anything was found there are none.
      const isFirst = found.length === 0 && steps.length === 0;
      return [TOOL_SEARCH, ...(isFirst ? [] : [GET]), ...found];
    },
    repair: (toolCall) => {
      if (!entries.has(toolCall.toolName)) return null;
      const made = { name: toolCall.toolName, input: argsOf(toolCall) };
      const input: ToolSearchInput = { query: toolCall.toolName, call: made };
      return { ...toolCall, toolName: TOOL_SEARCH, input: JSON.stringify(input) };
    },
  };
}

/** Whatever an entry is called, the tools of our own keep their names. */
function withoutReserved(entries: ReadonlyMap<string, Entry>): Map<string, Entry> {
  const reserved = new Set([TOOL_SEARCH, GET]);
  const named = [...entries].map(([name, entry]): [string, Entry] => [
    reserved.has(name) ? `${entry.domain}_${name}` : name,
    entry,
  ]);
  return new Map(named);
}

/** The names that `tool_search` has given in a step. */
function foundIn({ toolResults }: StepResult<ToolSet>): string[] {
  return toolResults
    .filter(({ toolName }) => toolName === TOOL_SEARCH)
    .flatMap(({ output }) => (output as Partial<ToolSearchOutput>).tools ?? [])
    .map(({ name }) => name);
}
