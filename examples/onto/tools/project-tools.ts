// Projects: creating one with its entities, and its graph of relations.
import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { createDocument } from "../document-tree.ts";
import { linkEntities } from "../edges.ts";
import { createEntity, toDetails } from "../entities.ts";
import { createFields, idOf, KIND_NAMES, type Kind, RELATION_NAMES } from "../kinds.ts";
import { getGraph, reorganize } from "../project-graph.ts";
import { defineWrite } from "./define-write.ts";

const rel = z.enum(RELATION_NAMES);
const reference = z.string().min(1).max(64);
const partKinds = KIND_NAMES.filter((kind) => kind !== "project") as [Exclude<Kind, "project">];
const part = z.discriminatedUnion(
  "kind",
  partKinds.map((kind) =>
    z.strictObject({
      kind: z.literal(kind),
      ref: reference.describe("A name of your own, for relationships"),
      ...createFields(kind),
    }),
  ) as unknown as [PartSchema],
);
type PartSchema = z.ZodObject<
  { kind: z.ZodLiteral<Exclude<Kind, "project">>; ref: z.ZodString } & ReturnType<typeof createFields>
>;

export function projectTools(onto: Onto): AnyTool[] {
  const { database } = onto;
  return [
    // onto.project.create
    defineWrite(onto, {
      name: "create_onto_project",
      description:
        "Creates a project, with goals, plans, tasks, milestones, risks, requirements, documents and their relations at once.",
      inputSchema: z.strictObject({
        ...createFields("project"),
        entities: z.array(part).max(100).default([]),
        relationships: z
          .array(z.strictObject({ from: reference, rel, to: reference }))
          .max(300)
          .default([]),
      }),
      examples: [
        { args: { title: "Website", description: "A new website for the shop." } },
        {
          args: {
            title: "Book club",
            type_key: "personal",
            entities: [
              { kind: "goal", ref: "read", title: "Read twelve books" },
              { kind: "task", ref: "pick", title: "Pick the first book" },
            ],
            relationships: [{ from: "pick", rel: "supports", to: "read" }],
          },
          note: "with a goal and a task that supports it",
        },
      ],
      policy: {
        do: [
          "The user names a new piece of work with an aim of its own",
          "Take over what they said: goals, dates, tasks",
        ],
        dont: [
          "A second project for what is part of one that exists",
          "Entities that the user did not mention",
        ],
        edgeCases: [
          "Little is known: create the project alone and ask for the goal",
          "Looks like one that exists: ask which is meant",
        ],
      },
      notes: ["All or nothing: where one entity or relation is refused, no project is created."],
      phrases: ["start a project", "set up something new", "kick off"],
      relatedTools: ["search_onto_projects"],
      guidance: [{ route: "get_onto_project_graph", prose: "See it as it is now." }],
      run({ entities, relationships, ...fields }) {
        const project = createEntity(onto, "project", fields);
        const ids = new Map<string, string>();
        for (const { kind, ref, ...own } of entities) {
          if (ids.has(ref)) throw wrong("entities", `${ref} is given twice`);
          const given = { ...own, project_id: project.id };
          const { id } = kind === "document" ? createDocument(onto, given) : createEntity(onto, kind, given);
          ids.set(ref, id);
        }
        const idFor = (ref: string): string => {
          const id = ids.get(ref);
          if (id === undefined) throw wrong("relationships", `${ref} is not the ref of an entity`);
          return id;
        };
        const edges = relationships.map(
          ({ from, rel: kind, to }) => linkEntities(database, idFor(from), kind, idFor(to)).edge,
        );
        return { project: toDetails(project), entities: Object.fromEntries(ids), edges };
      },
    }),

    // onto.project.graph.get
    defineTool({
      name: "get_onto_project_graph",
      description: "All entities of a project and the relations between them.",
      inputSchema: z.strictObject({ project_id: idOf("project") }),
      examples: [{ args: { project_id: "prj_orchard" } }],
      phrases: ["how everything in a project is connected", "graph of a project"],
      extraction: { path: "nodes", type: "entity", nameField: "title", isArray: true },
      execute: ({ project_id }) => getGraph(database, project_id),
    }),

    // onto.project.graph.reorganize: it may remove many relations, so it runs dry by default
    defineWrite(onto, {
      name: "reorganize_onto_project_graph",
      description:
        "Rearranges the relations of many entities of a project at once. Answers which edges it adds and removes.",
      lane: "destructive",
      inputSchema: z.strictObject({
        project_id: idOf("project"),
        nodes: z
          .array(
            z.strictObject({
              id: reference,
              connections: z.array(z.strictObject({ rel, to_id: reference })).max(100),
            }),
          )
          .min(1)
          .max(200)
          .describe("The entities to change, each with the relations that start at it"),
        mode: z
          .enum(["replace", "merge"])
          .default("replace")
          .describe("replace removes the relations not named"),
      }),
      examples: [
        {
          args: {
            project_id: "prj_atlas",
            nodes: [{ id: "task_cache", connections: [{ rel: "part_of", to_id: "plan_beta" }] }],
          },
        },
      ],
      notes: [
        "Entities that are not named keep their relations.",
        "Show the person the dry run before you apply it.",
      ],
      phrases: ["tidy up the relations", "restructure a project", "move tasks to another plan"],
      relatedTools: ["get_onto_project_graph"],
      run: ({ project_id, nodes, mode }) => reorganize(database, project_id, nodes, mode),
    }),
  ];
}

function wrong(field: string, message: string) {
  return problem("INVALID_PARAMS", { name: "create_onto_project" }, { fieldErrors: [{ field, message }] });
}
