import type { ToolSet } from "ai";
import { nativeTools } from "../operations/native-tools.ts";
import type { Entry } from "../schema/entry.ts";
import type { AgentOptions, SessionState } from "./agent.ts";
import { askInRun } from "./ask.ts";
import type { WantedCall } from "./call-tools.ts";
import { showExactly } from "./permissions/show-exactly.ts";

/** Whether a call may be made: those that destroy, or that their owner wants confirmed, a person decides on. */
export type Approve = (call: WantedCall, tool: ToolSet[string]) => Promise<boolean>;

const DESTROYS = "The call destroys something, or its owner wants it confirmed.";
const WRITES = "The call changes something.";
const WORKSPACE = ["workspace"];

export function createApprove(
  { gateway, mode, principal, writes, askingDomains = WORKSPACE }: AgentOptions,
  { approved, messages }: Pick<SessionState, "approved" | "messages">,
): Approve {
  let named: ReadonlyMap<string, Entry> | undefined;

  async function entryOf({ tool, args }: WantedCall): Promise<Entry | undefined> {
    const view = await gateway.view(principal && { principal });
    if (mode !== "fixed") {
      named ??= nativeTools(view.entries, "names");
      return named.get(tool);
    }
    const { op, route } = (args ?? {}) as { op?: string; route?: string };
    return view.find(op ?? route ?? "");
  }

  return async (call, tool) => {
    const { callId, args } = call;
    const needs: unknown =
      typeof tool.needsApproval === "function"
        ? await tool.needsApproval(
            args as never,
            { toolCallId: callId, messages, context: undefined } as never,
          )
        : tool.needsApproval;
    if (needs !== true && writes !== "ask") return true;
    const entry = await entryOf(call);
    if (needs !== true && (entry?.lane !== "write" || isDry(args))) return true;
    if (entry && askingDomains.includes(entry.domain)) return true;
    const name = entry?.op ?? call.tool;
    if (approved.has(name)) return true;
    const answer = await askInRun({
      scope: "tool",
      action: showExactly(`${call.tool === name ? "" : `${name} by `}${call.tool} ${JSON.stringify(args)}`),
      reason: needs === true ? DESTROYS : WRITES,
      always: [],
    });
    if (answer === "session" || answer === "always") approved.add(name);
    return answer !== "deny";
  };
}

function isDry(args: unknown): boolean {
  return (args as { dry_run?: unknown } | undefined)?.dry_run === true;
}
