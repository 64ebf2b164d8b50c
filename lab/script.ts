import type { ScriptedReply, ScriptedRequest } from "../src/testing/model-wire/scripted-exchange.ts";
import type { LabClient } from "./lab-client.ts";
import { findTool, offeredTools } from "./offered-tools.ts";
import { LAST_HANDLE, type Step } from "./scenarios.ts";
import { type ReadResult, toolResults } from "./tool-results.ts";

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
    const results = toolResults(body);
    const step = steps[results.length - before];
    if (!step) return { text: DONE };
    const tool = findTool(offered, step.tool);
    const reveal = client.reveal?.[before];
    if (!tool && reveal) return { calls: [reveal] };
    if (!tool) return { text: `No tool for ${step.id} is offered.` };
    const { name, namespace } = tool;
    return { calls: [{ name, args: argsOf(step, results), ...(namespace !== undefined && { namespace }) }] };
  };
}

function argsOf({ args }: Step, results: readonly ReadResult[]): Step["args"] {
  const handle = results.flatMap(({ text }) => text.match(/result:\/\/[\w-]+/g) ?? []).at(-1);
  return JSON.parse(JSON.stringify(args).replace(LAST_HANDLE, handle ?? LAST_HANDLE)) as Step["args"];
}

/** How many calls of a conversation were to the client's own tools. */
export function revealsIn(
  { messages }: Pick<ScriptedRequest, "messages">,
  { reveal = [] }: LabClient,
): number {
  const own = new Set(reveal.map(({ name }) => name));
  return messages.flatMap(({ calls }) => calls).filter((name) => own.has(name)).length;
}
