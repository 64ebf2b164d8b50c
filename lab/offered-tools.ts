import { toolResults } from "./tool-results.ts";

/** A tool definition in a request to a model, as the client sent it. */
export interface OfferedTool {
  readonly name: string;
  /** The namespace that OpenAI's Responses API puts it into. */
  readonly namespace?: string;
  readonly definition: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** The tools that a request offers, whichever vendor's format it has. */
export function offeredTools(body: unknown): OfferedTool[] {
  const { tools, input } = body as { tools?: Fields[]; input?: unknown };
  // Found by a search of OpenAI's Responses API.
  const found = (Array.isArray(input) ? (input as Fields[]) : []).flatMap((item) =>
    item.type === "tool_search_output" ? (item.tools as Fields[]) : [],
  );
  return [...(tools ?? []).filter(isSeenIn(body)), ...found].flatMap((tool) => unfold(tool));
}

/** A request without the definitions that the vendor keeps from the model until a search has named them. */
export function withoutHidden(body: unknown): unknown {
  const { tools } = body as { tools?: Fields[] };
  return tools ? { ...(body as Fields), tools: tools.filter(isSeenIn(body)) } : body;
}

function isSeenIn(body: unknown): (tool: Fields) => boolean {
  const named = new Set(toolResults(body).flatMap(({ text }) => text.split("\n")));
  return ({ defer_loading: isHidden, name }) => isHidden !== true || named.has(String(name));
}

/** Gemini lists declarations within a tool, OpenAI's Responses API tools within a namespace. */
function unfold(tool: Fields, namespace?: string): OfferedTool[] {
  const nested = tool.functionDeclarations ?? tool.tools;
  if (Array.isArray(nested)) {
    return nested.flatMap((inner) => unfold(inner, typeof tool.name === "string" ? tool.name : undefined));
  }
  const { name } = (tool.function ?? tool) as { name?: string };
  return name === undefined
    ? []
    : [{ name, definition: tool, ...(namespace !== undefined && { namespace }) }];
}

/** The names of Keyhole's tools. */
export const OWN_TOOLS = ["ask", "help", "get", "exec"] as const;

/** Keyhole's tool of this name among those that a request offers: behind the prefix of the client, or alone. */
export function findTool(offered: readonly OfferedTool[], tool: string): OfferedTool | undefined {
  const prefixed = new RegExp(`keyhole[^a-z]+${tool}$`, "i");
  return (
    offered.find(({ name, namespace = "" }) => prefixed.test(`${namespace}__${name}`)) ??
    offered.find(({ name }) => name === tool)
  );
}
