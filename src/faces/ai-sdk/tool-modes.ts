import { jsonSchema, type ModelMessage, type StepResult, type ToolSet } from "ai";
import { formatMessage, type ToolNames } from "../../base/problems/format-message.ts";
import { addressOf } from "../../base/util/address-of.ts";
import type { View } from "../../core/access/view.ts";
import { blocksOf } from "../../core/answers/content.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import type { AskOutput } from "../../core/operations/fit-ask.ts";
import { discover, type WorkingMemory } from "../../core/sessions/working-memory.ts";
import { menuTool } from "../../core/surfaces/menu.ts";
import { isNative } from "../../core/surfaces/native-tools.ts";
import { type FaceOptions, faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import {
  callOperation,
  createFaceToolbox,
  readCall,
  type ToolCall,
  toEntryCall,
} from "../../gateway/toolbox.ts";
import { FOUND_NAMES, GET, type NamedTools, nameTools } from "./named-tools.ts";
import {
  argsOf,
  type DisclosedTools,
  type ModeOptions,
  type SdkDefinition,
  toSdkTool,
  traced,
} from "./sdk-tool.ts";
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

/** Vendors accept at most 128 tools in one request. */
const MOST_ACTIVE = 120;
/** How many tools used in earlier turns stay active. */
const RECENTLY_USED = 5;
/** How many found or unveiled tools stay active: as many as one search finds. */
const RECENTLY_FOUND = DEFAULT_LIMIT;
/** How many turns after a search its unused finds stay active. */
const FRESH_TURNS = 1;
/** Entries are called by their own names here: no tool runs or describes others, and there is no dry run. */
const WORDS: ToolNames = { ask: TOOL_SEARCH, get: GET, params: "params" };
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
  const search = createFoundSearch(gateway, named, { call, session, approvals, trace });
  const tools: ToolSet = { [TOOL_SEARCH]: createToolSearch(search), [GET]: reader };
  for (const [name, { sdk, entry }] of named.tools) {
    tools[name] = toTool(sdk, (input) => toEntryCall(entry, input));
  }
  const ownDefinitions = new Map<string, object>([
    [TOOL_SEARCH, SEARCH_DEFINITION],
    [GET, reading],
  ]);
  let shown = kept.filter((name) => Object.hasOwn(tools, name));
  return {
    tools,
    firstTools: named.hands.length + 1,
    definition: (name) => ownDefinitions.get(name) ?? named.tools.get(name)?.definition(),
    instructions: hands.length > 0 ? INSTRUCTIONS_WITH_HANDS : INSTRUCTIONS,
    active: (steps, messages, memory) => {
      const names = remembered(messages, memory, ownNames).flatMap((address) => nameAt(address) ?? []);
      const discovered = [...new Set([...names, ...steps.flatMap(foundIn)])].slice(-MOST_ACTIVE);
      const reads = hasToRead(steps, memory, view) ? [GET] : [];
      const wanted = [...named.hands, TOOL_SEARCH, ...reads, ...discovered];
      // The list only grows, at its end, so that the vendor's cache holds.
      const grown = [...new Set([...shown, ...wanted])];
      shown = grown.length > MOST_ACTIVE ? wanted : grown;
      return shown;
    },
    lacking: (memory) => ({ ...memory, discoveredTools: [], usedTools: [] }),
    repair: async (toolCall) => {
      const { toolName: name } = toolCall;
      if (!named.tools.has(name)) return null;
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
  const entries = [...unveiled, ...discoveredTools].map((address) => view.find(address));
  return (
    results.length > 0 ||
    entries.some((entry) => entry !== undefined && !isNative(entry)) ||
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

/** Further hits are only named: a call of one discovers it. */
const MOST_NAMED = 2;

/** Searches for a model. A call of a tool that the model has not seen finds that tool, and makes the call if it only reads. */
function createFoundSearch(
  gateway: Gateway,
  named: NamedTools,
  { call, session, approvals, trace }: Pick<ModeOptions, "call" | "session" | "approvals" | "trace">,
): Parameters<typeof createToolSearch>[0] {
  return async (input, sdkCall) => {
    const called = input.call && named.tools.get(input.call.name);
    const entry = called?.entry;
    const discovers = entry ? 1 : (input.limit ?? DEFAULT_LIMIT);
    const limit = entry ? discovers : discovers + MOST_NAMED;
    const { abortSignal: signal } = sdkCall;
    const options = {
      ...call,
      ...(signal && { signal }),
      ...traced(trace),
      ...approvals?.answersFor(sdkCall),
    };
    const made =
      entry && input.call?.input !== undefined ? readCall(toEntryCall(entry, input.call.input)) : undefined;
    const makes = made && (await onlyReads(entry!, made));
    const toOutput = (answer: AskOutput) => {
      const output = toSearchOutput(input.query, answer, discovers, (route) => named.names.get(route));
      return called ? withEntry(output, called.definition()) : output;
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
    const answer = await callOperation(gateway, made, options);
    const blocks = blocksOf(answer.data);
    return { ...output, result: answer.text, ...(blocks.length > 0 && { blocks }) };
  };

  /** A tool that changes something is called only once the model has seen its definition. */
  async function onlyReads(entry: Entry, { operation, input }: ToolCall): Promise<boolean> {
    const decisions = await faceApiOf(gateway).decide(operation, input, call);
    const isRead = (await gateway.view(call)).find(entry.route)?.lane === "read";
    return isRead && decisions.every((decision) => decision.do === "run");
  }
}

const FIXED_INSTRUCTIONS = {
  sentences: [
    "Use {ask} to find what can help, then {exec} or {get} to use it.",
    "If you can answer without tools, answer directly.",
  ],
};

/** The tools of the menu, the same on every request. */
export async function createFixedTools(
  gateway: Gateway,
  { call, approvals, trace, names = "names", ownNames, hands = [] }: ModeOptions,
): Promise<DisclosedTools> {
  const toolbox = await createFaceToolbox(gateway, call.principal ? { principal: call.principal } : {});
  const definitions = new Map<string, object>(toolbox.tools.map((tool) => [tool.name, tool]));
  const named = nameTools(await gateway.view(call), {
    names,
    hands,
    taken: ownNames.union(new Set(definitions.keys())),
  });
  // A model that called the tool by its own name is not told the op again.
  const { exec: _, ...withoutExec } = toolbox.words;
  const tools: ToolSet = {};
  for (const name of named.hands) {
    const { sdk, entry, definition } = named.tools.get(name)!;
    definitions.set(name, definition());
    tools[name] = toSdkTool(sdk, {
      toCall: (input) => toEntryCall(entry, input),
      call: (wanted, options) => callOperation(gateway, wanted, { ...call, words: withoutExec, ...options }),
      approvals,
      trace,
    });
  }
  for (const tool of toolbox.tools) {
    const definition = { ...tool, inputSchema: jsonSchema(tool.inputSchema) };
    tools[tool.name] = toSdkTool(definition, {
      toCall: (input) => toolbox.toCall(tool.name, input)!,
      call: (wanted, options) => callOperation(gateway, wanted, { ...toolbox.face, ...call, ...options }),
      approvals,
      trace,
    });
  }
  return {
    tools,
    definition: (name) => definitions.get(name),
    instructions: formatMessage(FIXED_INSTRUCTIONS, toolbox.words),
    lacking: (memory) => memory,
    repair: async (toolCall) => {
      const entry = (await gateway.view(call)).find(toolCall.toolName);
      const args = argsOf(toolCall);
      if (!entry || !args) return null;
      const reads = entry.kind !== "tool" || entry.lane === "read";
      const input = reads ? { routes: [{ route: entry.route, params: args }] } : { op: entry.op, args };
      const toolName = reads ? toolbox.words.get : toolbox.words.exec;
      return toolName === undefined ? null : { ...toolCall, toolName, input: JSON.stringify(input) };
    },
  };
}
