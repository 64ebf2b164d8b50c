// Scripted models that stand in for a real one: `solver` makes the calls of each solution in the way that its arm has,
// `lazy` leaves out the last call of every third task and says that it is done.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { TokenCounter } from "keyhole";
import { createScriptedModel, type ScriptedReply, type ScriptedRequest } from "keyhole/testing";
import type { EvalCall, Task } from "./task.ts";

export const SCRIPTED = ["solver", "lazy"] as const;
export type ScriptedName = (typeof SCRIPTED)[number];

/** A model for one run. Its tokens are counted with o200k, the cached ones as the prefix of the request before. */
export function createSolver(
  name: ScriptedName,
  { solution }: Task,
  at: number,
  countTokens: TokenCounter,
): LanguageModelV4 {
  const calls = name === "lazy" && at % 3 === 2 ? solution.slice(0, -1) : solution;
  let before: readonly string[] = [];
  return createScriptedModel((request) => {
    const reply = replyTo(request, calls);
    const parts = partsOf(request.body as LanguageModelV4CallOptions);
    const same = parts.findIndex((part, place) => part !== before[place]);
    const tokens = parts.map((part) => countOnce(part, countTokens));
    const sum = (of: readonly number[]) => of.reduce((total, each) => total + each, 0);
    const cached = before.length === 0 ? 0 : sum(tokens.slice(0, same < 0 ? undefined : same));
    before = parts;
    return { ...reply, usage: { input: sum(tokens), cached, output: countTokens(JSON.stringify(reply)) } };
  });
}

/** Definitions of tools come again in every request. */
const counted = new Map<string, number>();

function countOnce(text: string, countTokens: TokenCounter): number {
  const tokens = counted.get(text) ?? countTokens(text);
  counted.set(text, tokens);
  return tokens;
}

/** The parts of a request in the order in which providers cache them: tools, instructions, messages. */
function partsOf({ tools = [], prompt }: LanguageModelV4CallOptions): string[] {
  return [...tools, ...prompt].map((part) => {
    const { providerOptions: _, ...plain } = part as { providerOptions?: unknown };
    return JSON.stringify(plain);
  });
}

function replyTo(request: ScriptedRequest, calls: readonly EvalCall[]): ScriptedReply {
  const made = request.messages.flatMap((message) => message.calls);
  if (request.tools.includes("run")) return made.length > 0 ? DONE : { calls: [toScript(calls)] };
  const done = made.filter((name) => name !== "tool_search" && name !== "ask").length;
  const next = calls[done];
  if (!next) return DONE;
  if (request.tools.includes("ask")) return keyholeReply(request, next, calls.slice(done));
  const name = next.address ? next.tool : `${next.server}__${next.tool}`;
  if (request.tools.includes(name)) return { calls: [{ name, args: next.args }] };
  const wanted = calls
    .slice(done)
    .map(({ address, server, tool }) => (address ? tool : `${server}__${tool}`));
  return { calls: [{ name: "tool_search", args: { query: `select:${[...new Set(wanted)].join(",")}` } }] };
}

const DONE: ScriptedReply = { text: "It is done." };

/** Asks once for everything that the menu does not name, then calls. */
function keyholeReply(
  { messages }: ScriptedRequest,
  { server, tool, args, reads, address }: EvalCall,
  waiting: readonly EvalCall[],
): ScriptedReply {
  const asked = messages.some(({ calls }) => calls.includes("ask"));
  const op = address ?? `${server}.${tool}`;
  if (!asked) {
    const queries = [...new Set(waiting.map(({ find }) => find))];
    return { calls: [{ name: "ask", args: queries.length === 1 ? { query: queries[0] } : { queries } }] };
  }
  const call = reads
    ? { name: "get", args: { routes: [{ route: op, ...(!address && { params: args }) }] } }
    : { name: "exec", args: { op, args } };
  return { calls: [call] };
}

/** All calls in one script. */
function toScript(calls: readonly EvalCall[]) {
  const lines = calls.map(({ server, tool, args, address }) =>
    address
      ? `log(await get(${JSON.stringify(address)}));`
      : `log(await call(${JSON.stringify(`${server}.${tool}`)}, ${JSON.stringify(args)}));`,
  );
  return { name: "run", args: { code: lines.join("\n") } };
}
