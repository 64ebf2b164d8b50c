import { jsonSchema, type Tool, tool } from "ai";
import type { AskOutput } from "../operations/ask-input.ts";
import { toSummary } from "../util/to-summary.ts";

export const TOOL_SEARCH = "tool_search";
/** Every tool that is discovered costs its definition on each later request. */
export const DEFAULT_LIMIT = 3;
const MOST = 20;
const SUMMARY_CHARS = 80;
const AVAILABLE = "These tools are now available. Search again if you need more.";

type AskHit = AskOutput["hits"][number];

export interface ToolSearchInput {
  readonly query: string;
  readonly limit?: number;
  /** A call of a tool that was not discovered yet, to be made once it is. Models are not told of it. */
  readonly call?: { readonly name: string; readonly input: unknown };
}

/** What `tool_search` answers. */
export interface ToolSearchOutput {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Names of more tools that fit: not yet available, but a call of one makes it so. */
  readonly more?: readonly string[];
  /** Documents and prompts, by the route that `get` reads. */
  readonly documents?: readonly { readonly route: string; readonly description: string }[];
  readonly rules: string;
  readonly instruction: string;
  /** The answer to the call that was made before its tool was discovered. */
  readonly result?: string;
}

/** The one tool that a conversation starts with. */
export const SEARCH_DEFINITION = {
  name: TOOL_SEARCH,
  title: "Find tools",
  description:
    'Finds the tools for a need, and makes them available. Say what you want to do, such as "find image" or "create page"; search again when you need more.',
  inputSchema: {
    type: "object" as const,
    properties: {
      query: { type: "string" as const, description: "What you need to do" },
      limit: { type: "integer" as const, minimum: 1, maximum: MOST, default: DEFAULT_LIMIT },
    },
    required: ["query"],
  },
};

export function createToolSearch(
  search: (input: ToolSearchInput, signal: AbortSignal | undefined) => Promise<ToolSearchOutput>,
): Tool<ToolSearchInput, ToolSearchOutput> {
  const { description, inputSchema } = SEARCH_DEFINITION;
  return tool({
    description,
    inputSchema: jsonSchema<ToolSearchInput>(inputSchema, { validate }),
    execute: (input, { abortSignal }) => search(input, abortSignal),
    toModelOutput: ({ output }) => ({ type: "text", value: toText(output) }),
  });
}

/** What was found as the model is told it; `more` has what comes after, too. */
export function toSearchOutput(
  query: string,
  { hits, rules }: Pick<AskOutput, "hits" | "rules">,
  more: Pick<AskOutput, "hits">,
  nameOf: (route: string) => string | undefined,
): ToolSearchOutput {
  const isUsable = (hit: AskHit) => hit.unavailable === undefined;
  const isTool = ({ route }: AskHit) => nameOf(route) !== undefined;
  const toLine = ({ summary = "" }: AskHit) => toSummary(summary, SUMMARY_CHARS);
  const known = new Set(hits.map(({ route }) => route));
  const names = more.hits
    .filter((hit) => isUsable(hit) && isTool(hit) && !known.has(hit.route))
    .map(({ route }) => nameOf(route)!);
  const documents = hits.filter((hit) => isUsable(hit) && !isTool(hit));
  const unusable = hits.flatMap(({ name, unavailable: why }) => (why ? [`${name} (${why})`] : []));
  return {
    tools: hits
      .filter((hit) => isUsable(hit) && isTool(hit))
      .map((hit) => ({ name: nameOf(hit.route)!, description: toLine(hit) })),
    ...(names.length > 0 && { more: names }),
    ...(documents.length > 0 && {
      documents: documents.map((hit) => ({ route: hit.route, description: toLine(hit) })),
    }),
    rules: rules.map(({ text }) => text).join("\n"),
    instruction: [
      hits.length === 0 ? nothingFound(query) : AVAILABLE,
      ...(documents.length > 0 ? ["Read documents with get."] : []),
      ...(unusable.length > 0 ? [`There but not usable now: ${unusable.join(", ")}.`] : []),
    ].join(" "),
  };
}

/** For the model, which reads what the tools are in their definitions. */
function toText({ tools, more = [], documents = [], rules, instruction, result }: ToolSearchOutput): string {
  return [
    ...(tools.length > 0 ? [`Now available: ${tools.map(({ name }) => name).join(", ")}`] : []),
    ...(more.length > 0 ? [`Also there: ${more.join(", ")}`] : []),
    ...documents.map(({ route, description }) => `- ${route}: ${description}`),
    ...(rules === "" ? [] : ["Rules:", rules]),
    ...(result === undefined ? [] : ["The call was made:", result]),
    ...(instruction === AVAILABLE ? [] : [instruction]),
  ].join("\n");
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
