import type { ScriptedReply, ScriptedRequest } from "../src/testing/model-wire/scripted-exchange.ts";
import type { LabClient } from "./lab-client.ts";
import { findTool, offeredTools } from "./offered-tools.ts";
import type { Step } from "./scenarios.ts";
import { toolResults } from "./tool-results.ts";

/** The last words of every conversation. */
export const DONE = "All steps are done.";

/**
 * A model that makes the calls of a scenario, one in each turn. The conversation itself says which is next, because
 * clients repeat requests and ask for titles in between.
 */
export function scriptOf(client: LabClient, steps: readonly Step[]) {
  return ({ body, messages }: ScriptedRequest): ScriptedReply => {
    const offered = offeredTools(body);
    if (offered.length === 0) return { text: "Report" };
    const before = revealsIn({ messages }, client);
    const step = steps[toolResults(body).length - before];
    if (!step) return { text: DONE };
    const tool = findTool(offered, step.tool);
    const reveal = client.reveal?.[before];
    if (!tool && reveal) return { calls: [reveal] };
    if (!tool) return { text: `No tool for ${step.id} is offered.` };
    const { name, namespace } = tool;
    return { calls: [{ name, args: step.args, ...(namespace !== undefined && { namespace }) }] };
  };
}

/** How many calls of a conversation were to the client's own tools. */
export function revealsIn(
  { messages }: Pick<ScriptedRequest, "messages">,
  { reveal = [] }: LabClient,
): number {
  const own = new Set(reveal.map(({ name }) => name));
  return messages.flatMap(({ calls }) => calls).filter((name) => own.has(name)).length;
}
