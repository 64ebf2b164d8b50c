import type { ToolResultPart, ToolSet } from "ai";
import { isProblem } from "../../base/problems/problem.ts";
import type { ProblemCode } from "../../base/problems/problems.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { mapLimit } from "../../base/util/map-limit.ts";
import { field, fieldsOf, textOf } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { toJson } from "../../base/util/to-json.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { ToolQuestion } from "../../core/nouns/question.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import { outputFiles, outputText } from "../../faces/ai-sdk/messages.ts";
import type { PermissionAnswer } from "../permissions/permissions.ts";
import { showExactly } from "../permissions/to-request.ts";
import type { AgentHooks, SessionState } from "./agent.ts";
import type { SpanContext } from "./agent-event.ts";
import { hasEffects, INTERRUPTED, NOT_RUN, toResult } from "./history.ts";
import { askIn, noteProgress, type RunContext, runContext } from "./run-context.ts";

export interface ModelToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  /** Why the call cannot run as written. */
  readonly invalid?: unknown;
}

export interface ToolOutcome {
  readonly call: ModelToolCall;
  /** For the application. */
  readonly output: unknown;
  /** For the model. */
  readonly part: ToolResultPart;
  /** The model repeated a call that was refused as repeated. */
  readonly isStuck: boolean;
}

interface CallsContext {
  readonly tools: ToolSet;
  /** Tools of the application, which declare whether they need approval. */
  readonly ownTools: ToolSet;
  readonly guard: CallGuard;
  readonly context: RunContext;
  readonly root: SpanContext;
  readonly session: Pick<SessionState, "messages">;
  readonly hooks?: AgentHooks | undefined;
}

const CONCURRENCY = 8;
const REPEATED =
  "This very call was made several times already, and nothing has changed. Do something else, or answer with what you have.";

const NOBODY =
  "Nobody is there to allow this call. Go on without it, and say in the answer what it was needed for.";
const DENIED = "The person did not allow this call. Do not try to get round it: ask, or go on without.";

/** Tools that tell when they begin, after their permission is given; and their ops and routes. */
const ASKS_FIRST = /^(?:workspace_|desk_)?(?:write|edit|delete|shell|background)$/;
const ASKING_OP = /^(?:workspace|desk)(?:\.|:\/\/tools\/)(?:write|edit|delete|shell|background)$/;

function asksFirst({ tool, args }: ModelToolCall): boolean {
  const { op, route = op } = fieldsOf(args);
  return ASKS_FIRST.test(tool) || (tool === "exec" && ASKING_OP.test(textOf(route) ?? ""));
}

/** Makes the calls of one step in parallel. Every call gets a result. */
export function callTools(calls: readonly ModelToolCall[], context: CallsContext): Promise<ToolOutcome[]> {
  // Judge in the model's order, before any call runs.
  const judged = calls.map((call) => ({ call, verdict: context.guard(call.tool, call.args) }));
  return mapLimit(judged, CONCURRENCY, ({ call, verdict }) => callTool(call, verdict, context));
}

async function callTool(
  call: ModelToolCall,
  verdict: GuardVerdict,
  { tools, ownTools, context, root, session, hooks }: CallsContext,
): Promise<ToolOutcome> {
  const { callId, tool, args } = call;
  const { emit, signal } = context;
  const span = newSpan(root);
  const running = { callId, span };
  context.calls.set(callId, span);
  const hooked = { tool, args, aliases: [] };
  context.hooked.set(callId, hooked);
  const started = performance.now();
  emit({ type: "tool-start", callId, tool, args }, span);

  const refuse = (error: string, text: string) => ({
    output: text as unknown,
    part: toResult(callId, tool, text, false),
    /** The code of the failure. */
    error: error as string | undefined,
  });

  async function attempt(): Promise<ReturnType<typeof refuse>> {
    if (signal.aborted) return refuse("CANCELLED", NOT_RUN);
    const refusal = refusalOf(call, verdict, tools);
    if (refusal !== undefined) return refuse(...refusal);
    const hooked = await hooks?.beforeTool?.({ tool, args });
    if (hooked !== undefined)
      return refuse("PERMISSION_DENIED", `A hook of the person refuses this call: ${hooked}`);
    const found = tools[tool]!;
    const inCall = <T>(work: () => Promise<T>) =>
      untilAborted(runContext.run({ ...context, call: running }, work), signal);
    const { messages } = session;
    const denied = Object.hasOwn(ownTools, tool)
      ? await inCall(() => denialOf(call, found, messages, (question) => askIn(context, running, question)))
      : undefined;
    if (denied !== undefined) return refuse("APPROVAL_DECLINED", denied);
    const options = { toolCallId: callId, messages, abortSignal: signal, context: undefined };
    if (!asksFirst(call)) await noteProgress(context, callId, "runs");
    const output = await inCall(async () => lastOf(await found.execute?.(args as never, options as never)));
    return { output, part: await toPart(call, output, found), error: codeOf(output) };
  }

  const {
    output,
    part: made,
    error,
  } = await attempt().catch((thrown: unknown) => {
    const hasBegun = hasEffects(context.progress.get(callId));
    if (signal.aborted) return refuse("CANCELLED", hasBegun ? INTERRUPTED : NOT_RUN);
    return refuse(isProblem(thrown) ? thrown.code : "INTERNAL", `The call failed: ${reasonOf(thrown)}`);
  });
  const ok = !made.output.type.startsWith("error");
  const said = await hooks?.afterTool?.({ ...hooked, ok, text: outputText(made.output) });
  const part = said === undefined ? made : withNote(made, said);
  const diff = diffOf(output);
  const files = outputFiles(part.output);
  emit(
    {
      type: "tool-end",
      callId,
      tool,
      ok,
      text: outputText(part.output),
      ms: performance.now() - started,
      ...(!ok && { error: error ?? "INTERNAL" }),
      ...(diff !== undefined && { diff }),
      ...(files.length > 0 && { files }),
    },
    span,
  );
  return { call, output, part, isStuck: verdict === "stop" };
}

function withNote(part: ToolResultPart, note: string): ToolResultPart {
  const { output } = part;
  const text = `\n[A hook of the person says: ${note}]`;
  if (output.type === "text" || output.type === "error-text")
    return { ...part, output: { ...output, value: `${output.value}${text}` } };
  if (output.type !== "content") return part;
  return { ...part, output: { ...output, value: [...output.value, { type: "text", text }] } };
}

/** Asks the person about a tool of the application that needs approval. Returns why it does not run. */
async function denialOf(
  { callId, tool, args }: ModelToolCall,
  { needsApproval }: ToolSet[string],
  messages: SessionState["messages"],
  ask: (question: ToolQuestion) => Promise<PermissionAnswer>,
): Promise<string | undefined> {
  const options = { toolCallId: callId, messages, context: undefined };
  const needs: unknown =
    typeof needsApproval === "function"
      ? await needsApproval(args as never, options as never)
      : needsApproval;
  if (needs !== true) return undefined;
  const action = showExactly(`${tool} ${JSON.stringify(args)}`);
  const reason = "The application wants the call confirmed.";
  const answer = await ask({ scope: "tool", action, reason, always: [] });
  if (typeof answer === "object" && "deny" in answer)
    return `The person did not allow this call, and says: ${answer.deny}`;
  if (answer === "nobody") return NOBODY;
  return answer === "deny" ? DENIED : undefined;
}

/** Why a call does not run: a code, and a text for the model. */
function refusalOf(
  { tool, invalid }: ModelToolCall,
  verdict: GuardVerdict,
  tools: ToolSet,
): [ProblemCode, string] | undefined {
  if (invalid !== undefined) return ["INVALID_PARAMS", `The call cannot be made: ${reasonOf(invalid)}`];
  if (!Object.hasOwn(tools, tool)) return ["NOT_FOUND", `Tool ${tool} not found.`];
  return verdict === "run" ? undefined : ["LIMIT_EXCEEDED", REPEATED];
}

/** The code in the answer of a gateway's tool. */
function codeOf(output: unknown): string | undefined {
  return textOf(field(field(field(output, "data"), "error"), "code"));
}

/** Tools of the application may yield partial results; the last one is the result. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

async function toPart(
  { callId, tool, args }: ModelToolCall,
  output: unknown,
  { toModelOutput }: ToolSet[string],
): Promise<ToolResultPart> {
  if (toModelOutput) {
    const shown = await toModelOutput({ toolCallId: callId, input: args as never, output: output as never });
    return { type: "tool-result", toolCallId: callId, toolName: tool, output: shown };
  }
  return toResult(callId, tool, typeof output === "string" ? output : (JSON.stringify(output) ?? ""), true);
}

/** Tools that change files have the diff in their result. */
function diffOf(output: unknown): string | undefined {
  return textOf(field(field(field(output, "data"), "result"), "diff"));
}

type GuardVerdict = "run" | "refuse" | "stop";

/** Decides whether to run a call, refuse it with advice, or end the run. */
type CallGuard = (tool: string, args: unknown) => GuardVerdict;

/**
 * Stops a model that repeats itself: runs the same call `most` times, refuses the next, and then ends the run. A new
 * call is progress and resets all counts, so alternating edits and tests are not stopped.
 */
export function createCallGuard(most: number): CallGuard {
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  return (tool, args) => {
    const json = toJson(args);
    const key = contentHash([tool, json.ok ? json.value : null]);
    if (!seen.has(key)) counts.clear();
    seen.add(key);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= most) return "run";
    return count === most + 1 ? "refuse" : "stop";
  };
}
