import { deriveLane } from "../catalog/derive-lane.ts";
import type { DomainDefinition } from "../schema/definition.ts";
import type { CallContext } from "../schema/entry.ts";
import type { OpenAITool } from "./openai-tools.ts";

/** The domain that {@link fromOpenAITools} makes: any of its fields but the tools, and one function that runs them. */
export interface OpenAIToolsDomain extends Omit<DomainDefinition, "tools"> {
  /** Ops of tools whose names do not tell them: `{ search_ontology: "onto.search" }`. */
  readonly ops?: Readonly<Record<string, string>>;
  /** Runs a tool by its function name. */
  execute(name: string, args: Record<string, unknown>, context: CallContext): unknown;
}

/**
 * Makes a domain of a list of chat tools, as OpenAI's API has them. Ops and lanes come from the names: `list_onto_tasks`
 * in the domain `onto` is `onto.task.list` and reads; a name without a known verb writes. See {@link toOpenAITools}.
 *
 * @example
 * ```ts
 * import { createGateway, fromOpenAITools } from "keyhole";
 *
 * const parameters = { type: "object", properties: { limit: { type: "integer" } } };
 * const listTasks = { name: "list_onto_tasks", description: "List tasks.", parameters };
 * const onto = fromOpenAITools([{ type: "function", function: listTasks }], {
 *   name: "onto",
 *   description: "Projects and tasks.",
 *   execute: (name, args) => ({ name, args }),
 * });
 * const gateway = createGateway({ domains: [onto] });
 * const answer = await gateway.exec({ op: "onto.task.list", args: { limit: 5 } });
 * console.assert(answer.ok);
 * await gateway.close();
 * ```
 */
export function fromOpenAITools(
  tools: readonly OpenAITool[],
  { ops = {}, execute, ...domain }: OpenAIToolsDomain,
): DomainDefinition {
  return {
    ...domain,
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      ...(parameters && { inputSchema: parameters }),
      ...(Object.hasOwn(ops, name) && { op: ops[name]! }),
      lane: deriveLane({ name }, "write"),
      execute: (args: Record<string, unknown>, context: CallContext) => execute(name, args, context),
    })),
  };
}
