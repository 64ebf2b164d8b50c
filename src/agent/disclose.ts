import { createLoopDisclosure, type LoopDisclosure } from "../ai-sdk/disclosure.ts";
import { traceBelow } from "../telemetry/trace-context.ts";
import type { Agent, SessionState } from "./agent.ts";
import { createApprove } from "./approval.ts";
import { runContext } from "./run-context.ts";

const WORKSPACE = ["workspace"];

/** The tools of a conversation's next turn. */
export async function disclose(agent: Agent, session: SessionState): Promise<LoopDisclosure> {
  const { gateway, mode, principal, ownTools = {}, writes, askingDomains = WORKSPACE } = agent.options;
  const { hands = WORKSPACE, permissionMode } = agent.options;
  // A conversation may outlive its gateway session.
  session.handle = await gateway.openSession({ resume: session.handle, ...(principal && { principal }) });
  const asksWrites = writes === "ask" || permissionMode?.() === "plan";
  return createLoopDisclosure(gateway, {
    session: session.handle,
    ...(mode && { mode }),
    ...(principal && { principal }),
    approvals: "gateway",
    approve: createApprove(session, permissionMode),
    policy: { asks: asksWrites ? "writes" : "destructive", selfAsking: askingDomains },
    ownTools,
    hands,
    kept: session.tools,
    trace: () => {
      const span = runContext.getStore()?.call?.span;
      return span && traceBelow(span, session.id);
    },
    // The agent counts tokens and summarizes; it never cuts by the number of messages.
    trim: false,
  });
}
