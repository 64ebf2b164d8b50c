import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway-api.ts";
import { blocksOf } from "../operations/blocks-of.ts";
import { isRepeatable, type ToolAnswer, type ToolCall } from "../toolbox.ts";
import { type Approval, createApproval } from "./approval.ts";
import { callNative, type ToolResult } from "./call-native.ts";
import type { Listing } from "./listing.ts";
import { refusedState, unknownName } from "./protocol-errors.ts";
import type { Round } from "./round.ts";
import type { Rounds } from "./rounds.ts";

export interface ToolCaller {
  readonly gateway: Gateway;
  readonly rounds: Rounds;
  /** Approver of calls: the person behind the client, or the gateway's own `approve`. */
  readonly approvals: "client" | "gateway";
  /** Adds structured content to every answer, even if the request does not ask for it. */
  readonly structured: boolean;
}

/** Runs a tool of the surface. Refusals are results that a model can read and act on. */
export async function callTool(
  caller: ToolCaller,
  { toolbox }: Listing,
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  round: Round,
): Promise<ToolResult> {
  const call = toolbox.toCall(name, args);
  if (!call) throw unknownName("tool", name);
  const approval = approvalFor(caller, round, call);
  const options = { ...round.options, ...(approval && { approve: approval.approve }) };
  const entry = toolbox.entries.get(name);
  const answer = entry
    ? await callNative(caller, entry, args, options, round)
    : toResult(await toolbox.call(name, args, options), {
        structured: caller.structured || round.structured,
        readsBytes: round.readsBytes,
      });
  if (approval?.refused) throw refusedState();
  return approval?.question() ?? answer;
}

/** A repeated round runs all its calls again, so only an input that can be repeated may ask. */
function approvalFor({ approvals, rounds }: ToolCaller, round: Round, call: ToolCall): Approval | undefined {
  if (approvals !== "client") return undefined;
  return round.canAsk && isRepeatable(call) ? createApproval(rounds, round) : undefined;
}

function toResult(
  { ok, text, data }: ToolAnswer,
  { structured, readsBytes }: Pick<Round, "structured" | "readsBytes">,
): CallToolResult {
  // The text notes the type and size of every block, and repeats every link.
  const blocks = readsBytes ? [] : blocksOf(data);
  return {
    content: [{ type: "text", text }, ...blocks],
    ...(structured && { structuredContent: data as Record<string, unknown> }),
    ...(!ok && { isError: true }),
  };
}
