// Relations between entities of any kind.
import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { edgesOf, linkEntities, unlinkEdge } from "../edges.ts";
import { getEntity } from "../entities.ts";
import { KIND_NAMES, RELATION_NAMES, RELATIONS } from "../kinds.ts";
import { defineWrite } from "./define-write.ts";

const entityId = z.string().min(1).max(64).describe("Id of an entity of any kind");
const rel = z.enum(RELATION_NAMES);

export function edgeTools(onto: Onto): AnyTool[] {
  const { database } = onto;
  return [
    // onto.entity.relationships.get
    defineTool({
      name: "get_entity_relationships",
      description: "The edges that start or end at one entity, with their ids and directions.",
      inputSchema: z.strictObject({
        entity_id: entityId,
        direction: z.enum(["out", "in", "both"]).default("both"),
      }),
      examples: [{ args: { entity_id: "plan_release" } }],
      phrases: ["dependencies of a task", "what blocks it", "edge ids of an entity"],
      relatedTools: ["unlink_onto_edge", "link_onto_entities"],
      execute({ entity_id, direction }) {
        const { kind, title } = getEntity(database, entity_id);
        const edges = edgesOf(database, entity_id).map((edge) => {
          const out = edge.from_id === entity_id;
          const other = getEntity(database, out ? edge.to_id : edge.from_id);
          return {
            edge_id: edge.id,
            direction: out ? "out" : "in",
            rel: edge.rel,
            other: { id: other.id, kind: other.kind, title: other.title },
          };
        });
        return {
          entity: { id: entity_id, kind, title },
          relationships: edges.filter((edge) => direction === "both" || edge.direction === direction),
        };
      },
    }),

    defineTool({
      name: "get_linked_entities",
      op: "onto.entity.links.get",
      description:
        "The entities that one entity is connected with, by kind: the tasks of a plan, the risks of a milestone.",
      inputSchema: z.strictObject({
        entity_id: entityId,
        kind: z.enum(KIND_NAMES).optional(),
        rel: rel.optional(),
      }),
      examples: [{ args: { entity_id: "plan_release", kind: "task" } }],
      phrases: ["tasks of a plan", "what is connected with it", "what belongs to a goal"],
      extraction: { path: "entities", type: "entity", nameField: "title", isArray: true },
      execute({ entity_id, kind, rel: wanted }) {
        getEntity(database, entity_id);
        const edges = edgesOf(database, entity_id).filter(
          (edge) => wanted === undefined || edge.rel === wanted,
        );
        const ids = new Set(edges.map(({ from_id, to_id }) => (from_id === entity_id ? to_id : from_id)));
        const linked = [...ids].map((id) => getEntity(database, id));
        const entities = linked.filter((entity) => kind === undefined || entity.kind === kind);
        return {
          entities: entities.map(({ id, kind: its, title, state_key }) => ({
            id,
            kind: its,
            title,
            state_key,
          })),
        };
      },
    }),

    defineWrite(onto, {
      name: "link_onto_entities",
      op: "onto.edge.link",
      description:
        "Connects two entities of a project by a relation, such as a task that depends_on another.",
      inputSchema: z.strictObject({ from_id: entityId, rel, to_id: entityId }),
      examples: [{ args: { from_id: "task_pricing", rel: "supports", to_id: "goal_adoption" } }],
      notes: Object.entries(RELATIONS)
        .filter(([name]) => name !== "references")
        .map(([name, { from, to }]) => `${name}: ${from.join(", ")} → ${to.join(", ")}`),
      phrases: ["make a task depend on another", "relate two things", "connect a risk with a milestone"],
      run: ({ from_id, rel: kind, to_id }) => linkEntities(database, from_id, kind, to_id),
    }),

    // onto.edge.unlink: a new link restores everything that it removes
    defineWrite(onto, {
      name: "unlink_onto_edge",
      description: "Removes one edge by its id; both entities stay.",
      inputSchema: z.strictObject({
        edge_id: z.string().min(1).max(200).describe("From get_entity_relationships"),
      }),
      examples: [{ args: { edge_id: "edge_doc_launch_references_doc_api_spec" } }],
      phrases: ["disconnect two things", "remove a dependency"],
      relatedTools: ["get_entity_relationships"],
      run: ({ edge_id }) => ({ removes: unlinkEdge(database, edge_id) }),
    }),
  ];
}
