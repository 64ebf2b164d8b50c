import { jsonSchema, type Tool, type ToolExecutionOptions, tool } from "ai";
import { toSummary } from "../../base/util/to-summary.ts";
import type { Block } from "../../core/answers/content.ts";
import { toDiscover } from "../../core/answers/hit.ts";
import type { AskOutput } from "../../core/operations/fit-ask.ts";
import { isNative, type MenuTool } from "../../core/surfaces/native-tools.ts";
import { toToolOutput } from "./messages.ts";

export const TOOL_SEARCH = "tool_search";
/** Every tool that is discovered costs its definition on each later request. */
export const DEFAULT_LIMIT = 3;
const MOST = 20;
const SUMMARY_CHARS = 80;
const AVAILABLE = "These tools are now available. Search again if you need more.";
const READ_DOCUMENTS = "Read documents with get.";
/** The sentence for tools that appeared after the turn began. */
const NEW = "new, from the next turn on";

type AskHit = AskOutput["hits"][number];

export interface ToolSearchInput {
  readonly query: string;
  readonly limit?: number;
  /** A call of an undiscovered tool, which runs once the tool is discovered. Models do not see this field. */
  readonly call?: { readonly name: string; readonly input: unknown };
}

/** The answer of `tool_search`. */
export interface ToolSearchOutput {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Names of more matching tools. They are not yet available, but a call discovers one. */
  readonly more?: readonly string[];
  /** Documents and prompts, by the route that `get` reads. */
  readonly documents?: readonly { readonly route: string; readonly description: string }[];
  readonly rules: string;
  readonly instruction: string;
  /** The answer to the call that was made before its tool was discovered. */
  readonly result?: string;
  /** Images, sounds, files and links of that answer. */
  readonly blocks?: readonly Block[];
}

/** The one tool that a conversation starts with. */
export const SEARCH_DEFINITION = {
  name: TOOL_SEARCH,
  title: "Find tools",
  description: "Finds tools for what you want to do and makes them available. Search again for more.",
  inputSchema: {
    type: "object" as const,
    properties: {
      query: { type: "string" as const },
      limit: { type: "integer" as const },
    },
    required: ["query"],
  },
};

export function createToolSearch(
  search: (input: ToolSearchInput, call: ToolExecutionOptions<unknown>) => Promise<ToolSearchOutput>,
): Tool<ToolSearchInput, ToolSearchOutput> {
  const { description, inputSchema } = SEARCH_DEFINITION;
  let isNewer = false;
  return tool({
    description,
    inputSchema: jsonSchema<ToolSearchInput>(inputSchema, { validate }),
    execute: (input, options) => {
      isNewer ||= "context" in options;
      return search(input, options);
    },
    toModelOutput: ({ output }) =>
      toToolOutput({ ok: true, text: toSearchText(output), data: output }, isNewer),
  });
}

/** Discovers the first hits. Of the others, only tools are named. */
export function toSearchOutput(
  query: string,
  { hits, rules, notes }: Pick<AskOutput, "hits" | "rules" | "notes">,
  discovers: number,
  nameOf: (route: string) => string | undefined,
): ToolSearchOutput {
  const whyNot = (hit: AskHit) =>
    hit.unavailable ?? (isNative(hit) && nameOf(hit.route) === undefined ? NEW : undefined);
  const isTool = (hit: AskHit) => isNative(hit) && whyNot(hit) === undefined;
  const toLine = ({ summary = "" }: AskHit) => toSummary(summary, SUMMARY_CHARS);
  const matches = hits.filter((hit) => !hit.entryPoint);
  const first = toDiscover(matches, discovers);
  const tools = first.filter(isTool).map((hit) => ({ name: nameOf(hit.route)!, description: toLine(hit) }));
  const names = matches
    .filter((hit) => !first.includes(hit) && isTool(hit))
    .map(({ route }) => nameOf(route)!);
  const documents = first.filter((hit) => !isNative(hit) && whyNot(hit) === undefined);
  const unusable = first.flatMap((hit) => (whyNot(hit) ? [`${hit.name} (${whyNot(hit)})`] : []));
  return {
    tools,
    ...(names.length > 0 && { more: names }),
    ...(documents.length > 0 && {
      documents: documents.map((hit) => ({ route: hit.route, description: toLine(hit) })),
    }),
    rules: rules.map(({ text }) => text).join("\n"),
    instruction: [
      ...(first.length === 0 ? nothingFound(query, notes) : []),
      ...(tools.length > 0 ? [AVAILABLE] : []),
      ...(documents.length > 0 ? [READ_DOCUMENTS] : []),
      ...(unusable.length > 0 ? [`There but not usable now: ${unusable.join(", ")}.`] : []),
    ].join(" "),
  };
}

/** Puts the called tool first in the answer to a call that was made before its tool was discovered. */
export function withEntry(
  output: ToolSearchOutput,
  { name, description }: Pick<MenuTool, "name" | "description">,
): ToolSearchOutput {
  if (output.tools.some((tool) => tool.name === name)) return output;
  return {
    tools: [{ name, description: toSummary(description, SUMMARY_CHARS) }],
    rules: output.rules,
    instruction: AVAILABLE,
  };
}

/** Text for the model, which reads the tools themselves in their definitions. */
export function toSearchText({
  tools,
  more = [],
  documents = [],
  rules,
  instruction,
  result,
}: ToolSearchOutput): string {
  return [
    ...(tools.length > 0 ? [`Now available: ${tools.map(({ name }) => name).join(", ")}`] : []),
    ...(more.length > 0 ? [`Also there: ${more.join(", ")}`] : []),
    ...documents.map(({ route, description }) => `- ${route}: ${description}`),
    ...(rules === "" ? [] : ["Rules:", rules]),
    ...(result === undefined ? [] : ["The call was made:", result]),
    ...(instruction === AVAILABLE ? [] : [instruction]),
  ].join("\n");
}

/** The notes of the search name an example of this catalog, and its language. */
function nothingFound(query: string, notes: readonly string[]): string[] {
  return [
    ...(notes.length > 0 ? notes : [`Nothing was found for ${JSON.stringify(query.slice(0, 100))}.`]),
    "Say it in other words, or answer without tools if you can.",
  ];
}

function validate(value: unknown) {
  const { query, limit, call } = (value ?? {}) as Partial<ToolSearchInput>;
  if (typeof query !== "string")
    return { success: false as const, error: new TypeError("query must be text") };
  const wanted = Number.isInteger(limit) && { limit: Math.min(Math.max(Number(limit), 1), MOST) };
  const undiscovered =
    call && typeof call.name === "string" ? { call: { name: call.name, input: call.input } } : {};
  return { success: true as const, value: { query, ...wanted, ...undiscovered } };
}
