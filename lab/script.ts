import type { ScriptedReply, ScriptedRequest } from "../src/testing/model-wire/scripted-exchange.ts";
import type { LabClient } from "./lab-client.ts";
import { findTool, offeredTools } from "./offered-tools.ts";
import type { Step } from "./scenarios.ts";
import { toolResults } from "./tool-results.ts";

/**
 * A model that makes the calls of a scenario, one in each turn. The conversation itself says which is next, because
 * clients repeat requests and ask for titles in between.
 */
export function scriptOf(client: LabClient, steps: readonly Step[]) {
  return ({ body }: ScriptedRequest): ScriptedReply => {
    const offered = offeredTools(body);
    if (offered.length === 0) return { text: "Report" };
    const results = toolResults(body).length;
    const reveal = client.reveal?.(offered);
    if (reveal && results === 0) return { calls: [reveal] };
    const step = steps[results - (client.reveal ? 1 : 0)];
    if (!step) return { text: "All steps are done." };
    const tool = findTool(offered, step.tool);
    if (!tool) return { text: `No tool for ${step.id} is offered.` };
    const { name, namespace } = tool;
    return { calls: [{ name, args: step.args, ...(namespace !== undefined && { namespace }) }] };
  };
}
