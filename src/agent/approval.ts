import type { ToolSet } from "ai";
import { entriesIn } from "../ai-sdk/approvals.ts";
import { nameTools } from "../ai-sdk/named-tools.ts";
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
  { gateway, mode, principal, writes, ownTools = {}, askingDomains = WORKSPACE }: AgentOptions,
  { approved, messages }: Pick<SessionState, "approved" | "messages">,
): Approve {
  const ownNames = new Set(Object.keys(ownTools));

  /** What a call would run. */
  async function entriesOf({ tool, args }: WantedCall): Promise<readonly Entry[]> {
    if (ownNames.has(tool)) return [];
    const view = await gateway.view(principal && { principal });
    const entry = mode === "fixed" ? undefined : nameTools(view, "names", ownNames).entries.get(tool);
    return entry ? [entry] : entriesIn(tool, args, view);
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
    const entries = await entriesOf(call);
    if (needs !== true && (isDry(args) || !entries.some(({ lane }) => lane === "write"))) return true;
    if (entries.length > 0 && entries.every(({ domain }) => askingDomains.includes(domain))) return true;
    const name = entries.map(({ op }) => op).join(", ") || call.tool;
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
