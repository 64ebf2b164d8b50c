// The ontology: the kinds of entity, the fields of each, and their relations.
import { z } from "zod";

export type Kind = keyof typeof KINDS;
export type Relation = keyof typeof RELATIONS;

const day = z.iso.date();
const priority = z.int().min(1).max(5).describe("1 is most urgent, 5 least");

/** The fields of each kind besides the common ones: title, description, type_key, state_key. */
export const KINDS = {
  project: {
    prefix: "prj",
    plural: "projects",
    about: "A piece of work with an aim; everything else belongs to one.",
    states: ["planning", "active", "on_hold", "completed"],
    types: ["product", "research", "operations", "personal"],
    fields: { due_at: day.describe("The day it should be finished") },
  },
  task: {
    prefix: "task",
    plural: "tasks",
    about: "Something that a person has to do.",
    states: ["todo", "in_progress", "blocked", "done"],
    types: ["execute", "review", "research", "coordinate"],
    fields: { priority, due_at: day.describe("The day it is due") },
  },
  goal: {
    prefix: "goal",
    plural: "goals",
    about: "What a project wants to reach.",
    states: ["draft", "active", "achieved", "abandoned"],
    types: ["outcome", "metric", "learning"],
    fields: { due_at: day.describe("The day it should be reached") },
  },
  plan: {
    prefix: "plan",
    plural: "plans",
    about: "How a goal is to be reached: a group of tasks.",
    states: ["draft", "active", "completed"],
    types: ["phase", "sprint", "campaign"],
    fields: { due_at: day.describe("The day it ends") },
  },
  document: {
    prefix: "doc",
    plural: "documents",
    about: "A text. One that has others below it is a folder of the project's document tree.",
    states: ["draft", "in_review", "published"],
    types: ["note", "spec", "decision", "report", "folder"],
    fields: { content: z.string().max(100_000).describe("The text, in Markdown") },
  },
  milestone: {
    prefix: "ms",
    plural: "milestones",
    about: "A day by which something is there.",
    states: ["pending", "at_risk", "reached", "missed"],
    types: ["release", "review", "deadline"],
    fields: { due_at: day.describe("The day") },
  },
  risk: {
    prefix: "risk",
    plural: "risks",
    about: "What may go wrong.",
    states: ["identified", "mitigated", "accepted", "occurred"],
    types: ["technical", "schedule", "legal", "people"],
    fields: {
      impact: z.enum(["low", "medium", "high", "critical"]).describe("How bad it would be"),
      probability: z.enum(["low", "medium", "high"]).describe("How likely it is"),
    },
  },
  requirement: {
    prefix: "req",
    plural: "requirements",
    about: "What the result must be able to do, or be.",
    states: ["proposed", "accepted", "met", "dropped"],
    types: ["functional", "quality", "constraint"],
    fields: { priority },
  },
} as const;

export const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** The kinds that each relation connects. An acyclic relation never leads back to its start. */
export const RELATIONS = {
  supports: { from: ["task", "plan", "milestone"], to: ["goal"] },
  part_of: { from: ["task", "plan"], to: ["plan"], acyclic: true },
  depends_on: { from: ["task", "plan", "milestone"], to: ["task", "plan", "milestone"], acyclic: true },
  targets: { from: ["task", "plan"], to: ["milestone"] },
  threatens: { from: ["risk"], to: ["goal", "plan", "milestone", "task"] },
  mitigates: { from: ["task", "plan"], to: ["risk"] },
  satisfies: { from: ["task", "document"], to: ["requirement"] },
  has_document: { from: ["task"], to: ["document"] },
  references: { from: KIND_NAMES, to: KIND_NAMES },
} as const satisfies Record<string, RelationRule>;

export const RELATION_NAMES = Object.keys(RELATIONS) as Relation[];

interface RelationRule {
  readonly from: readonly Kind[];
  readonly to: readonly Kind[];
  readonly acyclic?: true;
}

export function relationRule(relation: Relation): RelationRule {
  return RELATIONS[relation];
}

export const idOf = (kind: Kind) =>
  z.string().min(1).max(64).describe(`Id of a ${kind}, such as ${KINDS[kind].prefix}_…`);

/** The fields that a new entity of a kind accepts. All but the title have a default or are optional. */
export function createFields<K extends Kind>(kind: K) {
  const { states, types } = KINDS[kind];
  return {
    title: z.string().trim().min(1).max(200),
    description: z.string().max(4_000).optional(),
    type_key: z.enum(types as readonly string[] as [string, ...string[]]).default(types[0]),
    state_key: z.enum(states as readonly string[] as [string, ...string[]]).default(states[0]),
    ...optional(KINDS[kind].fields),
  };
}

/** The fields of a kind that an update may change. */
export function updateFields(kind: Kind) {
  const { states, types, fields } = KINDS[kind];
  return optional({
    title: z.string().trim().min(1).max(200),
    description: z.string().max(4_000),
    type_key: z.enum(types),
    state_key: z.enum(states),
    ...fields,
  });
}

function optional(fields: Readonly<Record<string, z.ZodType>>): Record<string, z.ZodOptional> {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.optional()]));
}
