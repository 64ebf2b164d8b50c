import { jsonSchema, type Tool, tool } from "ai";
import type { AskOutput } from "../operations/ask-input.ts";

export const TOOL_SEARCH = "tool_search";
export const DEFAULT_LIMIT = 5;
const MOST = 20;

export interface ToolSearchInput {
  readonly query: string;
  readonly limit?: number;
  /** A call of a tool that was not discovered yet, to be made once it is. Models are not told of it. */
  readonly call?: { readonly name: string; readonly input: unknown };
}

/** What `tool_search` answers. */
export interface ToolSearchOutput {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Documents and prompts, by the route that `get` reads. */
  readonly documents?: readonly { readonly route: string; readonly description: string }[];
  readonly rules: string;
  readonly instruction: string;
  /** The answer to the call that was made before its tool was discovered. */
  readonly result?: string;
}

/** The one tool that a conversation starts with. */
export function createToolSearch(
  search: (input: ToolSearchInput, signal: AbortSignal | undefined) => Promise<ToolSearchOutput>,
): Tool<ToolSearchInput, ToolSearchOutput> {
  return tool({
    description:
      'Finds the tools for a need, and makes them available. Say what you want to do, such as "find image" or "create page"; search again when you need more.',
    inputSchema: jsonSchema<ToolSearchInput>(
      {
        type: "object",
        properties: {
          query: { type: "string", description: "What you need to do" },
          limit: { type: "integer", minimum: 1, maximum: MOST, default: DEFAULT_LIMIT },
        },
        required: ["query"],
      },
      { validate },
    ),
    execute: (input, { abortSignal }) => search(input, abortSignal),
  });
}

/** What was found as the model is told it. */
export function toSearchOutput(
  query: string,
  { hits, rules }: Pick<AskOutput, "hits" | "rules">,
  nameOf: (route: string) => string | undefined,
): ToolSearchOutput {
  const usable = hits.filter(({ unavailable }) => unavailable === undefined);
  const tools = usable.flatMap(({ route, summary = "" }) => {
    const name = nameOf(route);
    return name === undefined ? [] : [{ name, description: summary }];
  });
  const documents = usable
    .filter(({ route }) => nameOf(route) === undefined)
    .map(({ route, summary = "" }) => ({ route, description: summary }));
  const unavailable = hits.flatMap(({ name, unavailable: why }) => (why ? [`${name} (${why})`] : []));
  return {
    tools,
    ...(documents.length > 0 && { documents }),
    rules: rules.map(({ text }) => text).join("\n\n"),
    instruction: [
      hits.length === 0
        ? nothingFound(query)
        : "These tools are now available. Search again if you need more.",
      ...(documents.length > 0 ? ["Read documents with get."] : []),
      ...(unavailable.length > 0 ? [`There but not usable now: ${unavailable.join(", ")}.`] : []),
    ].join(" "),
  };
}

function nothingFound(query: string): string {
  return [
    `Nothing was found for ${JSON.stringify(query.slice(0, 100))}.`,
    'Try the action and the thing ("create page", "find image", "update section"),',
    "say it in other words, or answer without tools if you can.",
  ].join(" ");
}

function validate(value: unknown) {
  const { query, limit, call } = (value ?? {}) as Partial<ToolSearchInput>;
  if (typeof query !== "string")
    return { success: false as const, error: new TypeError("query must be text") };
  const wanted = Number.isInteger(limit) ? Math.min(Math.max(Number(limit), 1), MOST) : DEFAULT_LIMIT;
  const made = call && typeof call.name === "string" ? { call: { name: call.name, input: call.input } } : {};
  return { success: true as const, value: { query, limit: wanted, ...made } };
}
