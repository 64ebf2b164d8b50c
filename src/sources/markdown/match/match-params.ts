import type { JsonSchema } from "../../../schema/json-schema.ts";

/** The parameters of a match, defaults filled in. */
export interface MatchParams {
  readonly query: string;
  readonly mode: "index" | "catalog" | "full";
  readonly maxTokens: number;
  readonly tags?: readonly string[];
  readonly categories?: readonly string[];
  readonly maxResults: number;
  readonly minScore: number;
}

/** Schema of the parameters of `match`. The catalog fills in the defaults. */
export const MATCH_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 1_000, description: "The need, in words" },
    mode: {
      enum: ["index", "catalog", "full"],
      default: "catalog",
      description: "index: the best addresses; catalog: the use of each; full: the texts themselves",
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
      description: "Only fragments with all of these tags",
    },
    categories: {
      type: "array",
      items: { type: "string" },
      maxItems: 32,
      description: "Only fragments of these categories",
    },
    maxResults: { type: "integer", minimum: 1, maximum: 100, default: 15 },
    minScore: {
      type: "number",
      minimum: 0,
      default: 10,
      description: "Matches of a lower score, 0 to 100, are left out",
    },
  },
  required: ["query"],
  additionalProperties: false,
};
