import type { ModelMessage, StepResult, ToolSet } from "ai";
import type { Gateway } from "../gateway-api.ts";
import type { MenuTool } from "../operations/menu.ts";
import { nativeTools, toNativeTool } from "../operations/native-tools.ts";
import { compactSchema } from "../render/compact-schema.ts";
import type { Entry } from "../schema/entry.ts";
import { callEntry, callOperation } from "../toolbox.ts";
import { argsOf, asksFirst, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";
import {
  createToolSearch,
  DEFAULT_LIMIT,
  SEARCH_DEFINITION,
  TOOL_SEARCH,
  type ToolSearchInput,
  type ToolSearchOutput,
  toSearchOutput,
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
const GET = "get";
const INSTRUCTIONS = `Find tools with ${TOOL_SEARCH}. If you need none, answer directly.`;

/** Every entry is a tool of its own; those are active that were discovered. */
export async function createFoundTools(
  gateway: Gateway,
  { call, session, byApplication, names = "names" }: ModeOptions,
): Promise<DisclosedTools> {
  const view = await gateway.view(call);
  const menu = await gateway.menu({ principal: view.principal });
  const entries = withoutReserved(nativeTools(view.entries, names));
  const nameOf = new Map([...entries].map(([name, { route }]) => [route, name]));

  async function search(input: ToolSearchInput, signal?: AbortSignal): Promise<ToolSearchOutput> {
    const { query, call: made } = input;
    const discovers = made ? 1 : (input.limit ?? DEFAULT_LIMIT);
    const options = { ...call, ...(signal && { signal }) };
    const limit = made ? discovers : discovers + MOST_NAMED;
    const answer = await gateway.ask({ query, limit }, { ...options, discovers });
    const output = toSearchOutput(query, answer, discovers, (route) => nameOf.get(route));
    const entry = made && entries.get(made.name);
    // What changes something is only called by who has seen what it is.
    if (entry?.lane !== "read" || asksFirst(entry)) return output;
    return { ...output, result: (await callEntry(gateway, entry, made?.input, options)).text };
  }

  /** What was used, unveiled or found last: the rest is still there to be called or found again. */
  function remembered(messages: readonly ModelMessage[]): string[] {
    const { discoveredTools, unveiled, usedTools } = session.memory;
    const isFresh = turnsSinceSearch(messages) <= FRESH_TURNS;
    const addresses = [
      ...usedTools.slice(-RECENTLY_USED).map(({ name }) => name),
      ...(isFresh ? discoveredTools.slice(-RECENTLY_FOUND) : []),
      ...unveiled.slice(-RECENTLY_FOUND),
    ];
    return addresses.flatMap((address) => nameOf.get(view.find(address)?.route ?? "") ?? []);
  }

  /** Documents and stored results are read by `get`, which is not shown before there are any. */
  function hasToRead(steps: readonly StepResult<ToolSet>[]): boolean {
    const { results, unveiled, discoveredTools } = session.memory;
    const isDocument = (address: string) => !nameOf.has(view.find(address)?.route ?? "");
    return (
      results.length > 0 ||
      [...unveiled, ...discoveredTools].some(isDocument) ||
      steps.some((step) => searchesOf(step).some(({ documents = [] }) => documents.length > 0))
    );
  }

  const reading = menu.find(({ name }) => name === GET)!;
  const definitions = new Map<string, Definition>([
    [TOOL_SEARCH, SEARCH_DEFINITION],
    [GET, reading],
    ...[...entries].map(([name, entry]): [string, Definition] => [name, toShown(toNativeTool(name, entry))]),
  ]);
  const entryTools = [...entries].map(([name, entry]) => [
    name,
    toSdkTool(
      definitions.get(name)!,
      (input, signal) => callEntry(gateway, entry, input, { ...call, ...(signal && { signal }) }),
      byApplication && asksFirst(entry),
    ),
  ]);
  const reader = toSdkTool(reading, (input, signal) =>
    callOperation(gateway, "get", input, { ...call, ...(signal && { signal }) }),
  );
  return {
    tools: { [TOOL_SEARCH]: createToolSearch(search), [GET]: reader, ...Object.fromEntries(entryTools) },
    definitions,
    instructions: INSTRUCTIONS,
    active: (steps, messages) => {
      const found = [...new Set([...remembered(messages), ...steps.flatMap(foundIn)])].slice(-MOST_ACTIVE);
      return [TOOL_SEARCH, ...(hasToRead(steps) ? [GET] : []), ...found];
    },
    lacking: (memory) => ({ ...memory, discoveredTools: [], usedTools: [] }),
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

type Definition = Pick<MenuTool, "name" | "title" | "description" | "inputSchema">;

/** The gateway checks the input, so a model need not read all that is checked. */
function toShown({ name, title, description, inputSchema }: MenuTool): Definition {
  return { name, title, description, inputSchema: compactSchema(inputSchema) };
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
