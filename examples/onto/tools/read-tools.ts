// Listing, searching and reading, the same for every kind. Op, address and lane are derived from the function names:
// list_onto_tasks becomes onto.task.list.
import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { getEntity, listEntities, searchEntities, toDetails } from "../entities.ts";
import { idOf, KIND_NAMES, KINDS, type Kind } from "../kinds.ts";

/** An id of each kind from the data, for examples that run. */
export const EXAMPLE_IDS: Readonly<Record<Kind, string>> = {
  project: "prj_atlas",
  task: "task_cache",
  goal: "goal_latency",
  plan: "plan_press",
  document: "doc_api_spec",
  milestone: "ms_go_live",
  risk: "risk_capacity",
  requirement: "req_p99",
};

/** The state that people ask for most. */
const EXAMPLE_STATES: Readonly<Record<Kind, string>> = {
  project: "active",
  task: "blocked",
  goal: "active",
  plan: "draft",
  document: "in_review",
  milestone: "pending",
  risk: "identified",
  requirement: "accepted",
};

const PHRASES: Partial<Record<Kind, readonly string[]>> = {
  task: ["what is left to do today", "work that cannot go on"],
};

const limit = z.int().min(1).max(100).default(20);
const search = z.string().trim().min(1).max(200).describe("Words; all of them must occur");
const inProject = { project_id: idOf("project").optional() };
const byImpact = { impact: KINDS.risk.fields.impact.optional() };

/** A field that only some kinds have. Its value is absent with the field, so the type holds for all kinds. */
const onlyIf = <Fields>(has: boolean, fields: Fields): Fields => (has ? fields : ({} as Fields));

export function listTool({ database }: Onto, kind: Kind): AnyTool {
  const { plural, states, types } = KINDS[kind];
  return defineTool({
    name: `list_onto_${plural}`,
    description: `Lists ${plural}${kind === "project" ? "" : " of one project or of all"}, by state and type. ${KINDS[kind].about}`,
    inputSchema: z.strictObject({
      ...onlyIf(kind !== "project", inProject),
      state_key: z.enum(states).optional(),
      type_key: z.enum(types).optional(),
      ...onlyIf(kind === "risk", byImpact),
      limit,
    }),
    examples: [
      { args: { ...(kind !== "project" && { project_id: "prj_atlas" }), state_key: EXAMPLE_STATES[kind] } },
    ],
    phrases: [`show all ${plural}`, `which ${plural} are there`, `open ${plural}`, ...(PHRASES[kind] ?? [])],
    extraction: { path: plural, type: kind, nameField: "title", isArray: true },
    execute(filter) {
      const { total, found } = listEntities(database, { ...filter, kinds: [kind] });
      return { total, [plural]: found };
    },
  });
}

export function searchTool({ database }: Onto, kind: Kind): AnyTool {
  const { plural } = KINDS[kind];
  const examples = { project: "maps routes", task: "API Spec", document: "API Spec" } as Partial<
    Record<Kind, string>
  >;
  return defineTool({
    name: `search_onto_${plural}`,
    description: `Finds ${plural} by words of their title or text, in one project or in all.`,
    inputSchema: z.strictObject({ search, ...onlyIf(kind !== "project", inProject), limit }),
    examples: [{ args: { search: examples[kind], limit: 10 } }],
    phrases: [`find a ${kind} by name`, `is there a ${kind} about`],
    extraction: { path: plural, type: kind, nameField: "title", isArray: true },
    execute({ search: words, ...filter }) {
      const { total, found } = searchEntities(database, words, { ...filter, kinds: [kind] });
      return { total, [plural]: found };
    },
  });
}

export function searchAllTool({ database }: Onto): AnyTool {
  return defineTool({
    name: "search_ontology",
    op: "onto.search",
    description:
      "Finds entities of every kind by words: for when it is not known whether it is a task, a document or a goal.",
    searchable: true,
    inputSchema: z.strictObject({
      search,
      kinds: z.array(z.enum(KIND_NAMES)).min(1).optional(),
      ...inProject,
      limit,
    }),
    examples: [{ args: { search: "launch" } }, { args: { search: "cabling", kinds: ["task", "risk"] } }],
    phrases: ["search everything", "find anything about", "look across all projects"],
    extraction: { path: "entities", type: "entity", nameField: "title", isArray: true },
    execute({ search: words, ...filter }) {
      const { total, found } = searchEntities(database, words, filter);
      return { total, entities: found };
    },
  });
}

export function getTool({ database }: Onto, kind: Kind): AnyTool {
  const key = `${kind}_id`;
  return defineTool({
    name: `get_onto_${kind}_details`,
    description: `Reads one ${kind} in full, with its version.`,
    inputSchema: z.strictObject({ [key]: idOf(kind) }),
    examples: [{ args: { [key]: EXAMPLE_IDS[kind] } }],
    phrases: [`open a ${kind}`, `read the ${kind}`, `details of a ${kind}`],
    extraction: { path: "$root", type: kind, nameField: "title" },
    execute(params) {
      const entity = getEntity(database, params[key] ?? "", kind);
      return { content: toDetails(entity), guidance: nextOf(kind, entity.id, entity.project_id) };
    },
  });
}

/** Next steps after an entity was read, with their params filled in. */
function nextOf(kind: Kind, id: string, project_id: string) {
  const next = (route: string, prose: string, params: Record<string, unknown>) => ({ route, prose, params });
  const links = next("onto.entity.links.get", "What it is connected with.", { entity_id: id });
  if (kind === "project")
    return [next("onto.project.graph.get", "Everything in it, with relations.", { project_id })];
  if (kind === "document")
    return [next("onto.document.path.get", "Where it is in the tree.", { document_id: id }), links];
  if (kind === "task")
    return [next("onto.task.docs.list", "The documents of its workspace.", { task_id: id }), links];
  return [links];
}
