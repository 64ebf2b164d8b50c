// The tokens that tools and rules add to conversations with the editor of a website: with all tools and all rules
// in every prompt, and with Keyhole. The model follows a script; the count is of the requests that the AI SDK makes.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { generateText, isStepCount, jsonSchema, type ModelMessage, type ToolSet } from "ai";
import { createGateway, type Gateway, type TokenCounter, type View } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createScriptedModel, type ScriptedReply } from "keyhole/testing";
import { createCms } from "../examples/cms/cms.ts";
import { toSdkTool } from "../src/faces/ai-sdk/sdk-tool.ts";
import { createToolbox } from "../src/gateway/toolbox.ts";
import type { Row } from "./benchmark.ts";
import { CONVERSATIONS, type Step, type Turn } from "./conversation-turns.ts";

/** The price of a cached token as a share of the price of a new one. */
const CACHE_READ = 0.1;
const EDITOR = { id: "editor", scopes: [], allowWrite: true };
/** `fixed-whole` cuts nothing off, so the vendor's cache stays valid. */
const SYSTEMS = ["all-tools", "discover", "fixed", "fixed-whole"] as const;
type System = (typeof SYSTEMS)[number];

/** The parts of a request in the order in which vendors cache them: tools, instructions, messages. */
interface Part {
  readonly text: string;
  readonly tokens: number;
  /** True for tools, rules and searches; false for the conversation itself. */
  readonly isOverhead: boolean;
}

export async function conversationRows(countTokens: TokenCounter): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [type, turns] of Object.entries(CONVERSATIONS)) {
    const first = new Map<System, number>();
    const whole = new Map<System, number>();
    const priced = new Map<System, number>();
    for (const system of SYSTEMS) {
      const requests = await converse(system, turns, countTokens);
      const ofFirst = requests.filter(({ turn }) => turn === 0).map(({ parts }) => overheadOf(parts));
      first.set(system, ofFirst.reduce((sum, tokens) => sum + tokens, 0) / ofFirst.length);
      whole.set(
        system,
        requests.reduce((sum, { parts }) => sum + overheadOf(parts), 0),
      );
      priced.set(system, priceOf(requests.map(({ parts }) => parts)));
    }
    for (const system of SYSTEMS) {
      const row = (metric: string, value: number, unit: string): Row => ({
        bench: "tokens",
        case: `type-${type}`,
        system,
        metric,
        value,
        unit,
      });
      const saved = (figures: ReadonlyMap<System, number>) =>
        1 - figures.get(system)! / figures.get("all-tools")!;
      rows.push(
        row("request_tokens", Math.round(first.get(system)!), "tokens"),
        row("request_saved", saved(first), "share"),
        row("ten_turns_tokens", whole.get(system)!, "tokens"),
        row("ten_turns_saved", saved(whole), "share"),
        row("ten_turns_cached_saved", saved(priced), "share"),
      );
    }
  }
  return rows;
}

async function converse(
  system: System,
  turns: readonly Turn[],
  countTokens: TokenCounter,
): Promise<{ turn: number; parts: Part[] }[]> {
  const cms = createCms({ now: () => new Date("2026-08-03T10:00:00Z") });
  const gateway = createGateway({ domains: [cms.domain], principal: EDITOR, learning: false });
  const rules = Object.values(cms.domain.rules ?? {}).join("\n\n");
  const view = await gateway.view();
  const requests: { turn: number; parts: Part[] }[] = [];
  const history: ModelMessage[] = [];
  let session: string | undefined;
  for (const [index, { prompt, steps, answer }] of turns.entries()) {
    const replies = [...steps.flatMap((step) => toReplies(system, step, view)), { text: answer }];
    const model = createScriptedModel(replies);
    const settings =
      system === "all-tools" ? await allTools(gateway, rules) : await keyhole(system, gateway, session);
    if ("session" in settings) session = settings.session;
    history.push({ role: "user", content: prompt });
    const { session: _, ...given } = { session: undefined, ...settings };
    const result = await generateText({ ...given, model, messages: history, stopWhen: isStepCount(20) });
    history.push(...result.responseMessages);
    for (const { body } of model.requests) requests.push({ turn: index, parts: toParts(body, countTokens) });
  }
  await gateway.close();
  await cms.close();
  return requests;
}

function keyhole(system: Exclude<System, "all-tools">, gateway: Gateway, session: string | undefined) {
  return toAISDKTools(gateway, {
    mode: system === "discover" ? "discover" : "fixed",
    approvals: "gateway",
    ...(system === "fixed-whole" && { trim: false }),
    ...(session && { session }),
  });
}

/** The baseline: an application without Keyhole. */
async function allTools(gateway: Gateway, rules: string): Promise<{ tools: ToolSet; instructions: string }> {
  const toolbox = await createToolbox(gateway, { surface: "native", nativeNames: "names" });
  const tools = toolbox.tools.map((tool) => [
    tool.name,
    toSdkTool(
      { ...tool, inputSchema: jsonSchema(tool.inputSchema) },
      {
        toCall: (input) => ({ operation: "exec", input }),
        call: ({ input }) => toolbox.call(tool.name, input),
      },
    ),
  ]);
  return { tools: Object.fromEntries(tools), instructions: rules };
}

/** The model's message for a step, using the tools that it sees. */
function toReplies(system: System, step: Step, view: View): ScriptedReply[] {
  if ("find" in step) {
    if (system === "all-tools") return [];
    const name = system === "discover" ? "tool_search" : "ask";
    return [{ calls: [{ name, args: { query: step.find } }] }];
  }
  if (system === "all-tools" || system === "discover") return [{ calls: step.call }];
  const calls = step.call.map(({ name, args }) => {
    const { op, lane } = view.shown.find((entry) => entry.name === name)!;
    if (lane === "read") return { name: "get", args: { routes: [{ route: op, params: args }] } };
    return { name: "exec", args: { op, args } };
  });
  return [{ calls }];
}

function toParts(body: unknown, countTokens: TokenCounter): Part[] {
  const { tools = [], prompt } = body as LanguageModelV4CallOptions;
  const part = (value: unknown, isOverhead: boolean): Part => {
    const text = JSON.stringify(value);
    return { text, tokens: countTokens(text), isOverhead };
  };
  return [
    ...tools.map((tool) => part(tool, true)),
    ...prompt.map((message) => part(message.content, message.role === "system" || isFinding(message))),
  ];
}

/** Calls of the search tools, and their answers. */
function isFinding({ content }: LanguageModelV4CallOptions["prompt"][number]): boolean {
  if (typeof content === "string") return false;
  return content.some((part) => "toolName" in part && ["tool_search", "ask"].includes(part.toolName));
}

function overheadOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { tokens, isOverhead }) => sum + (isOverhead ? tokens : 0), 0);
}

/** Whole requests; the prefix shared with the previous request comes from the vendor's cache. */
function priceOf(requests: readonly (readonly Part[])[]): number {
  return requests.reduce((sum, parts, index) => {
    const before = requests[index - 1] ?? [];
    const changed = parts.findIndex(({ text }, at) => before[at]?.text !== text);
    const known = changed === -1 ? parts.length : changed;
    const price = parts.map(({ tokens }, at) => tokens * (at < known ? CACHE_READ : 1));
    return sum + price.reduce((total, tokens) => total + tokens, 0);
  }, 0);
}
