// Creating, updating and deleting, the same for every kind that allows it.
import type { AnyTool } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { subtreeOf } from "../document-tree.ts";
import { edgesOf } from "../edges.ts";
import { createEntity, getEntity, toDetails, updateEntity } from "../entities.ts";
import { createFields, idOf, type Kind, updateFields } from "../kinds.ts";
import { defineWrite } from "./define-write.ts";
import { EXAMPLE_IDS } from "./read-tools.ts";

/** onto.goal.create, onto.plan.create */
export function createTool(onto: Onto, kind: "goal" | "plan"): AnyTool {
  const example = { goal: "Answer every ticket within a day", plan: "Open beta" }[kind];
  return defineWrite(onto, {
    name: `create_onto_${kind}`,
    description: {
      goal: "Creates a goal of a project: what it wants to reach, and by when.",
      plan: "Creates a plan of a project: a phase, sprint or campaign that tasks can be part of.",
    }[kind],
    inputSchema: z.strictObject({ project_id: idOf("project"), ...createFields(kind) }),
    examples: [{ args: { project_id: "prj_atlas", title: example, due_at: "2026-06-30" } }],
    phrases: [`add a ${kind}`, `new ${kind}`, `set a ${kind}`],
    guidance: [{ route: "onto.edge.link", prose: `Relate the ${kind} to what it belongs with.` }],
    run: (fields) => ({ [kind]: toDetails(createEntity(onto, kind, fields)) }),
  });
}

const UPDATES: Readonly<Record<Kind, Record<string, unknown>>> = {
  project: { state_key: "on_hold" },
  task: { state_key: "in_progress", priority: 2, expected_version: 1 },
  goal: { state_key: "active" },
  plan: { due_at: "2026-06-01" },
  document: { state_key: "published" },
  milestone: { state_key: "at_risk" },
  risk: { state_key: "mitigated", probability: "low" },
  requirement: { state_key: "accepted" },
};

export function updateTool(onto: Onto, kind: Kind): AnyTool {
  const key = `${kind}_id`;
  return defineWrite(onto, {
    name: `update_onto_${kind}`,
    description: `Changes fields of a ${kind}, such as its title or state; what is not given stays. Answers what changed.`,
    inputSchema: z
      .strictObject({
        [key]: idOf(kind),
        ...updateFields(kind),
        expected_version: z
          .int()
          .positive()
          .optional()
          .describe("The version that was read: refused if someone changed it since"),
      })
      .refine((given) => Object.keys(given).length > 1, "give at least one field to change"),
    examples: [{ args: { [key]: EXAMPLE_IDS[kind], ...UPDATES[kind] } }],
    phrases: [`change a ${kind}`, `edit the ${kind}`, `set the state of a ${kind}`, ...(PHRASES[kind] ?? [])],
    run(given) {
      const { [key]: id, expected_version, ...fields } = given as Record<string, string | number | undefined>;
      return updateEntity(onto, kind, String(id), fields, expected_version as number | undefined);
    },
  });
}

const PHRASES: Partial<Record<Kind, string[]>> = {
  task: ["mark a task as done", "reschedule a task", "raise the priority"],
  project: ["put a project on hold", "rename a project"],
  document: ["rewrite a document", "publish a document"],
  risk: ["the risk has been mitigated"],
  milestone: ["postpone a milestone", "the date of a milestone moves"],
};

/** The name puts it into the destructive lane, so it runs dry by default. */
export function deleteTool(onto: Onto, kind: "task" | "goal" | "plan" | "document"): AnyTool {
  const key = `${kind}_id`;
  const withMore = kind === "document" ? " and everything below it" : "";
  return defineWrite(onto, {
    name: `delete_onto_${kind}`,
    description: `Deletes a ${kind}${withMore}, with its relations. Answers all that goes.`,
    inputSchema: z.strictObject({ [key]: idOf(kind) }),
    examples: [{ args: { [key]: EXAMPLE_IDS[kind] } }],
    phrases: [`remove a ${kind}`, `get rid of a ${kind}`],
    run(params) {
      const entity = getEntity(onto.database, params[key] ?? "", kind);
      const all = kind === "document" ? subtreeOf(onto.database, entity) : [entity];
      const edges = all.flatMap(({ id }) => edgesOf(onto.database, id).map((edge) => edge.id));
      onto.database.prepare("DELETE FROM entities WHERE id = ?").run(entity.id);
      return { deletes: all.map(({ id, title }) => ({ id, title })), unlinks: [...new Set(edges)] };
    },
  });
}
