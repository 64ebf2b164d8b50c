import { jsonSchema, type ModelMessage, type StepResult, type ToolSet } from "ai";
import type { View } from "../access/view.ts";
import type { Gateway } from "../gateway-api.ts";
import type { FaceOptions } from "../gateway-core.ts";
import type { Words } from "../schema/say.ts";
import type { WorkingMemory } from "../session/working-memory.ts";
import { menuTool } from "../surfaces/menu.ts";
import { isNative } from "../surfaces/native-tools.ts";
import { callOperation, type ToolCall, toEntryCall } from "../toolbox.ts";
import { argsOf, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { createFoundSearch } from "./found-search.ts";
import { FOUND_NAMES, GET, nameTools } from "./named-tools.ts";
import { type SdkDefinition, toSdkTool } from "./to-sdk-tool.ts";
import {
  createToolSearch,
  DEFAULT_LIMIT,
  SEARCH_DEFINITION,
  TOOL_SEARCH,
  type ToolSearchInput,
  type ToolSearchOutput,
} from "./tool-search.ts";

/** Vendors accept at most 128 tools in one request. */
const MOST_ACTIVE = 120;
/** How many tools used in earlier turns stay active. */
const RECENTLY_USED = 5;
/** How many found or unveiled tools stay active: as many as one search finds. */
const RECENTLY_FOUND = DEFAULT_LIMIT;
/** How many turns after a search its unused finds stay active. */
const FRESH_TURNS = 1;
/** Entries are called by their own names here: no tool runs or describes others, and there is no dry run. */
const WORDS: Words = { ask: TOOL_SEARCH, get: GET, params: "params" };
const INSTRUCTIONS = `Find tools with ${TOOL_SEARCH}. If you need none, answer directly.`;
const INSTRUCTIONS_WITH_HANDS = `Files and commands of the folder have tools of their own. Find all other tools with ${TOOL_SEARCH}. If you need none, answer directly.`;

/** Makes every entry a tool. Only discovered tools are active. */
export async function createFoundTools(
  gateway: Gateway,
  { call: given, session, approvals, trace, names = "names", ownNames, hands = [], kept = [] }: ModeOptions,
): Promise<DisclosedTools> {
  const call: FaceOptions = { ...given, words: WORDS };
  const view = await gateway.view(call);
  const named = nameTools(view, { names, hands, taken: ownNames.union(new Set(FOUND_NAMES)) });
  const nameAt = (address: string) => named.names.get(view.find(address)?.route ?? "");

  const toTool = (definition: SdkDefinition, toCall: (input: unknown) => ToolCall) =>
    toSdkTool(definition, {
      toCall,
      call: (wanted, options) => callOperation(gateway, wanted, { ...call, ...options }),
      approvals,
      trace,
    });

  const reading = menuTool(GET, view);
  const reader = toTool({ ...reading, inputSchema: jsonSchema(reading.inputSchema) }, (input) => ({
    operation: GET,
    input,
  }));
  const search = createFoundSearch(gateway, named, { call, session, trace });
  const tools: ToolSet = { [TOOL_SEARCH]: createToolSearch(search), [GET]: reader };
  for (const [name, entry] of named.entries) {
    tools[name] = toTool(named.sdkDefinitions.get(name)!, (input) => toEntryCall(entry, input));
  }
  const own = new Map<string, object>([
    [TOOL_SEARCH, SEARCH_DEFINITION],
    [GET, reading],
  ]);
  let shown = kept.filter((name) => Object.hasOwn(tools, name));
  return {
    tools,
    firstTools: named.hands.length + 1,
    definition: (name) => own.get(name) ?? named.definition(name),
    instructions: hands.length > 0 ? INSTRUCTIONS_WITH_HANDS : INSTRUCTIONS,
    active: (steps, messages, memory) => {
      const known = remembered(messages, memory, ownNames).flatMap((address) => nameAt(address) ?? []);
      const found = [...new Set([...known, ...steps.flatMap(foundIn)])].slice(-MOST_ACTIVE);
      const reads = hasToRead(steps, memory, view) ? [GET] : [];
      const wanted = [...named.hands, TOOL_SEARCH, ...reads, ...found];
      // The list only grows, at its end, so that the vendor's cache holds.
      const grown = [...new Set([...shown, ...wanted])];
      shown = grown.length > MOST_ACTIVE ? wanted : grown;
      return shown;
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

/** The tools used, unveiled or found last; the others can still be called or found again. */
function remembered(
  messages: readonly ModelMessage[],
  { discoveredTools, unveiled, usedTools }: WorkingMemory,
  ownNames: ReadonlySet<string>,
): string[] {
  const isFresh = turnsSinceSearch(messages) <= FRESH_TURNS;
  const used = usedTools.map(({ name }) => name).filter((name) => !ownNames.has(name));
  return [
    ...used.slice(-RECENTLY_USED),
    ...(isFresh ? discoveredTools.slice(-RECENTLY_FOUND) : []),
    ...unveiled.slice(-RECENTLY_FOUND),
  ];
}

/** `get` reads documents and stored results. It is shown once there are any. */
function hasToRead(
  steps: readonly StepResult<ToolSet>[],
  { results, unveiled, discoveredTools }: WorkingMemory,
  view: View,
): boolean {
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

/** The names that `tool_search` gave in a step. */
function foundIn(step: StepResult<ToolSet>): string[] {
  return searchesOf(step).flatMap(({ tools = [] }) => tools.map(({ name }) => name));
}
