import { jsonSchema, type ModelMessage, type StepResult, type ToolSet } from "ai";
import type { CallOptions, Gateway } from "../gateway-api.ts";
import type { AskOutput } from "../operations/ask-input.ts";
import { menuTool } from "../operations/menu.ts";
import { isNative } from "../operations/native-tools.ts";
import { addressOf } from "../operations/operation.ts";
import { discover } from "../session/working-memory.ts";
import { callEntry, callOperation } from "../toolbox.ts";
import { asksFirst, operationAsksFirst } from "./approvals.ts";
import { argsOf, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { GET, nameTools } from "./named-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";
import {
  createToolSearch,
  DEFAULT_LIMIT,
  SEARCH_DEFINITION,
  TOOL_SEARCH,
  type ToolSearchInput,
  type ToolSearchOutput,
  toSearchOutput,
  toSearchText,
  withEntry,
} from "./tool-search.ts";

/** Vendors take no more than 128 tools in one request. */
const MOST_ACTIVE = 120;
/** What else was found is named only: a call of it discovers it. */
const MOST_NAMED = 3;
/** Of what was used in earlier turns, so many stay active. */
const RECENTLY_USED = 5;
/** Of what was found or unveiled, as many as one search finds. */
const RECENTLY_FOUND = DEFAULT_LIMIT;
/** For so many turns after a search, what it found stays active without being used. */
const FRESH_TURNS = 1;
const INSTRUCTIONS = `Find tools with ${TOOL_SEARCH}. If you need none, answer directly.`;

/** Every entry is a tool of its own; those are active that were discovered. */
export async function createFoundTools(
  gateway: Gateway,
  { call, session, byApplication, names = "names", ownNames }: ModeOptions,
): Promise<DisclosedTools> {
  const view = await gateway.view(call);
  const named = nameTools(view, names, ownNames);
  const approved: CallOptions = { ...call, ...(byApplication && { approve: () => true }) };
  const nameAt = (address: string) => named.names.get(view.find(address)?.route ?? "");

  async function search(input: ToolSearchInput, signal?: AbortSignal): Promise<ToolSearchOutput> {
    const entry = input.call && named.entries.get(input.call.name);
    const discovers = entry ? 1 : (input.limit ?? DEFAULT_LIMIT);
    const limit = entry ? discovers : discovers + MOST_NAMED;
    const options = { ...call, ...(signal && { signal }) };
    const makes = entry && input.call?.input !== undefined && (await onlyReads(entry.route));
    const toOutput = (answer: AskOutput) => {
      const output = toSearchOutput(input.query, answer, discovers, (route) => named.names.get(route));
      return entry ? withEntry(output, named.definition(input.call!.name)!) : output;
    };
    const { ok, text, data } = await callOperation(
      gateway,
      "ask",
      { query: entry?.op ?? input.query, limit },
      {
        ...options,
        discovers,
        toText: (answer) => toSearchText({ ...toOutput(answer as AskOutput), ...(makes && { result: "" }) }),
      },
    );
    if (!ok) return { tools: [], rules: "", instruction: text };
    const output = toOutput(data as AskOutput);
    if (!entry) return output;
    // Hidden ones are called by who knows them, but no search finds them.
    session.update((memory) => discover(memory, [addressOf(entry)]));
    if (!makes) return output;
    return { ...output, result: (await callEntry(gateway, entry, input.call?.input, options)).text };
  }

  /** What was used, unveiled or found last: the rest is still there to be called or found again. */
  function remembered(messages: readonly ModelMessage[]): string[] {
    const { discoveredTools, unveiled, usedTools } = session.memory;
    const isFresh = turnsSinceSearch(messages) <= FRESH_TURNS;
    const used = usedTools.map(({ name }) => name).filter((name) => !ownNames.has(name));
    const addresses = [
      ...used.slice(-RECENTLY_USED),
      ...(isFresh ? discoveredTools.slice(-RECENTLY_FOUND) : []),
      ...unveiled.slice(-RECENTLY_FOUND),
    ];
    return addresses.flatMap((address) => nameAt(address) ?? []);
  }

  /** Documents and stored results are read by `get`, which is not shown before there are any. */
  function hasToRead(steps: readonly StepResult<ToolSet>[]): boolean {
    const { results, unveiled, discoveredTools } = session.memory;
    const isDocument = (address: string) => {
      const entry = view.find(address);
      return entry !== undefined && !isNative(entry);
    };
    return (
      results.length > 0 ||
      [...unveiled, ...discoveredTools].some(isDocument) ||
      steps.some((step) => searchesOf(step).some(({ documents = [] }) => documents.length > 0))
    );
  }

  /** An entry may have changed since the tools were made. */
  async function entryAsksFirst(route: string): Promise<boolean> {
    const entry = (await gateway.view(call)).find(route);
    return entry !== undefined && asksFirst(entry);
  }

  /** What changes something is only called by who has seen what it is. */
  async function onlyReads(route: string): Promise<boolean> {
    const entry = (await gateway.view(call)).find(route);
    return entry?.lane === "read" && !asksFirst(entry);
  }

  const reading = menuTool(GET, view);
  const reader = toSdkTool(
    { ...reading, inputSchema: jsonSchema(reading.inputSchema) },
    (input, signal) => callOperation(gateway, GET, input, { ...approved, ...(signal && { signal }) }),
    byApplication && (async (input) => operationAsksFirst(GET, input, await gateway.view(call))),
  );
  const tools: ToolSet = { [TOOL_SEARCH]: createToolSearch(search), [GET]: reader };
  for (const [name, entry] of named.entries) {
    tools[name] = toSdkTool(
      named.sdkDefinitions.get(name)!,
      (input, signal) => callEntry(gateway, entry, input, { ...approved, ...(signal && { signal }) }),
      byApplication && (() => entryAsksFirst(entry.route)),
    );
  }
  const own = new Map<string, object>([
    [TOOL_SEARCH, SEARCH_DEFINITION],
    [GET, reading],
  ]);
  return {
    tools,
    definition: (name) => own.get(name) ?? named.definition(name),
    instructions: INSTRUCTIONS,
    active: (steps, messages) => {
      const found = [...new Set([...remembered(messages), ...steps.flatMap(foundIn)])].slice(-MOST_ACTIVE);
      return [TOOL_SEARCH, ...(hasToRead(steps) ? [GET] : []), ...found];
    },
    lacking: (memory) => ({ ...memory, discoveredTools: [], usedTools: [] }),
    repair: async (toolCall) => {
      const { toolName: name } = toolCall;
      if (!named.entries.has(name)) return null;
      const input: ToolSearchInput = { query: name, call: { name, input: argsOf(toolCall) } };
      return { ...toolCall, toolName: TOOL_SEARCH, input: JSON.stringify(input) };
    },
  };
}

function turnsSinceSearch(messages: readonly ModelMessage[]): number {
  const last = messages.findLastIndex(({ role, content }) => {
    if (role !== "assistant" || typeof content === "string") return false;
    return content.some((part) => part.type === "tool-call" && part.toolName === TOOL_SEARCH);
  });
  return messages.slice(last + 1).filter(({ role }) => role === "user").length;
}

function searchesOf({ toolResults }: StepResult<ToolSet>): Partial<ToolSearchOutput>[] {
  return toolResults
    .filter(({ toolName }) => toolName === TOOL_SEARCH)
    .map(({ output }) => output as Partial<ToolSearchOutput>);
}

/** The names that `tool_search` has given in a step. */
function foundIn(step: StepResult<ToolSet>): string[] {
  return searchesOf(step).flatMap(({ tools = [] }) => tools.map(({ name }) => name));
}
