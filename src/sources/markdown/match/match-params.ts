import type { JsonSchema } from "../../../schema/json-schema.ts";

export interface MatchParams {
  readonly query: string;
  readonly mode: "index" | "catalog" | "full";
  readonly maxTokens: number;
  readonly tags?: readonly string[];
  readonly categories?: readonly string[];
  readonly maxResults: number;
  readonly minScore: number;
}

/** What `match` takes. The catalog fills in the defaults. */
export const MATCH_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 1_000, description: "What is needed, in words" },
    mode: {
      enum: ["index", "catalog", "full"],
      default: "catalog",
      description: "index: the best addresses; catalog: what each is for; full: the texts themselves",
    },
    maxTokens: {
      type: "integer",
      minimum: 1,
      maximum: 200_000,
      default: 3_000,
      description: "Budget of the answer",
    },
    tags: {
      type: "array",
      items: { type: "string" },
      maxItems: 32,
      description: "Only fragments that have all of these",
    },
    categories: {
      type: "array",
      items: { type: "string" },
      maxItems: 32,
      description: "Only fragments of these",
    },
    maxResults: { type: "integer", minimum: 1, maximum: 100, default: 15 },
    minScore: { type: "number", minimum: 0, default: 10, description: "Weaker matches are left out" },
  },
  required: ["query"],
  additionalProperties: false,
};
