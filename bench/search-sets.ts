import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SearchDocument } from "../src/search/port/search-index.ts";
import { schemaText } from "../src/search/schema-text.ts";
import { readJsonLines, type SetTool } from "./tool-sets.ts";

export interface Question {
  readonly query: string;
  readonly gold: readonly string[];
  /** The needs of the query. Any id of a group satisfies its need. */
  readonly groups: readonly (readonly string[])[];
}

export interface SearchSet {
  readonly tools: readonly SetTool[];
  readonly documents: readonly SearchDocument[];
  readonly questions: readonly Question[];
}

interface Line {
  readonly query: string;
  readonly gold: readonly string[];
  readonly gold_groups?: readonly (readonly string[])[];
}

export function readSearchSet(folder: string): SearchSet {
  const tools = readJsonLines<SetTool>(join(folder, "tools.jsonl"));
  const path = join(folder, "queries.jsonl");
  const lines = existsSync(path) ? readJsonLines<Line>(path) : [];
  return {
    tools,
    documents: tools.map(toDocument),
    questions: lines.map(({ query, gold, gold_groups }) => ({
      query,
      gold,
      groups: gold_groups ?? gold.map((id) => [id]),
    })),
  };
}

function toDocument(tool: SetTool): SearchDocument {
  return {
    id: tool.id,
    kind: "tool",
    domain: tool.server ?? "",
    visibility: "listed",
    scopes: [],
    tags: [],
    name: tool.name,
    aliases: [],
    description: tool.description ?? "",
    parameters: tool.input_schema ? schemaText(tool.input_schema) : "",
    domainText: [tool.server, tool.server_description].filter(Boolean).join(" "),
    content: tool.content ?? "",
  };
}
