import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Answered, CallOptions, Gateway } from "../gateway-api.ts";
import { errorText, toErrorAnswer } from "../operations/answer-parts.ts";
import { failedWhole, outcomeOf } from "../operations/failed-whole.ts";
import type { OperationName } from "../operations/operations.ts";
import { asKnownProblem } from "../operations/run-entry.ts";
import type { SurfaceOptions, SurfaceTool } from "../operations/surfaces.ts";
import { type Approval, createApproval } from "./approval.ts";
import { callNative } from "./call-native.ts";
import type { Listing } from "./listing.ts";
import { refusedState, unknownName } from "./protocol-errors.ts";
import type { Round } from "./round.ts";
import type { Rounds } from "./rounds.ts";
import type { SurfaceWords } from "./surface-words.ts";
import { surfaceTool } from "./tools.ts";

export interface ToolCaller {
  readonly gateway: Gateway;
  readonly rounds: Rounds;
  readonly surface: SurfaceOptions;
  readonly words: SurfaceWords;
  /** Who approves: the person behind the client, or whoever the gateway asks. */
  readonly approvals: "client" | "gateway";
}

export type ToolAnswer = CallToolResult | InputRequiredResult;
type Run = (input: unknown, options: CallOptions) => Promise<Readonly<Record<string, unknown>> & Answered>;

const CANNOT_ASK =
  "This client cannot put a question to its user. Use a client that supports elicitation, or have the owner of this server approve such calls.";

/** Runs a tool of the surface. Refusals are results that a model can read and act on. */
export async function callTool(
  caller: ToolCaller,
  listing: Listing,
  call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  round: Round,
): Promise<ToolAnswer> {
  const { name, args } = call;
  const entry = listing.native.get(name);
  const tool = surfaceTool(name, caller.surface);
  if (!entry && !tool) throw unknownName("tool", name);
  // Rounds that are repeated run again, so only calls of one tool are worth a question.
  const asks = caller.approvals === "client" && round.canAsk && (entry || isSingle(tool!.operation, args));
  const approval = asks ? createApproval(caller.rounds, round) : undefined;
  const options = { ...round.options, ...(approval && { approve: approval.approve }) };
  const answer = entry
    ? await callNative(caller, entry, args, options, round)
    : await callOperation(caller.gateway, tool!, args, options, caller.approvals === "client" && !asks);
  return settle(entry ? answer : inWords(answer as CallToolResult, caller.words), approval);
}

/** What to call next is said in the names that the model knows. */
function inWords(answer: CallToolResult, words: SurfaceWords): CallToolResult {
  const [first] = answer.content;
  if (first?.type !== "text") return answer;
  const [text, structuredContent] = words(first.text, answer.structuredContent ?? {});
  return { ...answer, content: [{ type: "text", text }], structuredContent };
}

function settle(answer: ToolAnswer, approval: Approval | undefined): ToolAnswer {
  if (approval?.refused) throw refusedState();
  return approval?.question() ?? answer;
}

async function callOperation(
  gateway: Gateway,
  { operation, mayWrite }: SurfaceTool,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
  cannotAsk: boolean,
): Promise<CallToolResult> {
  try {
    const run = gateway[operation] as unknown as Run;
    const { text, ...output } = await run(args, { ...options, getMayWrite: mayWrite ?? false });
    const outcome = outcomeOf(operation, output);
    const note = cannotAsk && outcome === "APPROVAL_REQUIRED" ? `\n${CANNOT_ASK}` : "";
    return {
      content: [{ type: "text", text: text + note }],
      structuredContent: output,
      ...(failedWhole(operation, output) && { isError: true }),
    };
  } catch (error) {
    const { help_path: _, ...answer } = toErrorAnswer(asKnownProblem(error, operation), "root");
    return {
      content: [{ type: "text", text: errorText({ ...answer, help_path: "root" }) }],
      structuredContent: { error: answer },
      isError: true,
    };
  }
}

function isSingle(operation: OperationName, args: Readonly<Record<string, unknown>>): boolean {
  if (operation === "get") return Array.isArray(args.routes) && args.routes.length === 1;
  return operation === "exec";
}
