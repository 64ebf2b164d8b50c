// Tools for orientation: the contents, how to use them, the values of a field.
import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { listEntities } from "../entities.ts";
import { createFields, KIND_NAMES, KINDS } from "../kinds.ts";

const GUIDE = {
  reading:
    "Search when you know words of it (onto.search for every kind at once), list when you know its state. Read with get before you change something: it tells the version.",
  writing:
    "Look for it first, so that you do not make it twice. Give expected_version with an update: a CONFLICT then says that somebody was faster. Use dry_run to see what would change.",
  relations:
    "onto.edge.link connects two entities; its help lists which relation leads from what to what. onto.project.graph.reorganize changes many at once and runs dry first.",
  documents:
    "Documents form a tree for each project. onto.document.tree.get shows it, onto.document.tree.move changes it; a folder cannot go below itself.",
} as const;

const TOPICS = Object.keys(GUIDE) as (keyof typeof GUIDE)[];

export function aboutTools({ database }: Onto): AnyTool[] {
  return [
    defineTool({
      name: "get_field_info",
      op: "util.schema.field_info",
      description: "Which fields a kind of entity has, and which values a field takes: states, types, dates.",
      inputSchema: z.strictObject({ kind: z.enum(KIND_NAMES), field: z.string().min(1).max(64).optional() }),
      examples: [{ args: { kind: "task", field: "state_key" } }],
      phrases: ["allowed values of a field", "which states can a task have", "valid type_key"],
      execute({ kind, field }) {
        const fields = fieldsOf(kind);
        if (field === undefined) return { kind, about: KINDS[kind].about, fields };
        const one = fields.find(({ name }) => name === field);
        if (!one)
          throw problem(
            "NOT_FOUND",
            { name: `field ${field} of ${kind}` },
            { fields: fields.map(({ name }) => name) },
          );
        return { kind, ...one };
      },
    }),

    defineTool({
      name: "get_buildos_overview",
      op: "util.buildos.overview",
      description:
        "What BuildOS is and what is in it now: the kinds of entity, how many there are, the projects.",
      searchable: true,
      inputSchema: z.strictObject({}),
      examples: [{ args: {} }],
      phrases: ["what can I do here", "what is BuildOS", "where do I start"],
      execute() {
        const kinds = KIND_NAMES.map((kind) => {
          const { total } = listEntities(database, { kinds: [kind], limit: 1 });
          return { kind, about: KINDS[kind].about, count: total };
        });
        const { found } = listEntities(database, { kinds: ["project"], limit: 10 });
        const guidance = [
          ...found.map(({ id, title }) => ({
            route: "onto.project.graph.get",
            prose: `All of ${title}.`,
            params: { project_id: id },
          })),
          { route: "onto.task.list", prose: "What cannot go on.", params: { state_key: "blocked" } },
          { route: "util.buildos.usage_guide", prose: "How to read and write here." },
        ];
        return { content: { kinds, projects: found }, guidance };
      },
    }),

    defineTool({
      name: "get_buildos_usage_guide",
      op: "util.buildos.usage_guide",
      description: "How to work with BuildOS: reading, writing, relations, documents.",
      inputSchema: z.strictObject({ topic: z.enum(TOPICS).optional() }),
      examples: [{ args: { topic: "writing" } }],
      phrases: ["how do I use this", "best practice", "manual"],
      execute: ({ topic }) => (topic === undefined ? GUIDE : { [topic]: GUIDE[topic] }),
    }),
  ];
}

interface FieldInfo {
  readonly name: string;
  readonly required: boolean;
}

/** Reads the same schema that checks new entities. */
function fieldsOf(kind: (typeof KIND_NAMES)[number]): FieldInfo[] {
  const { properties = {}, required = [] } = z.toJSONSchema(z.strictObject(createFields(kind)), {
    io: "input",
  });
  return Object.entries(properties).map(([name, schema]) => ({
    ...(typeof schema === "object" && schema),
    name,
    required: required.includes(name),
  }));
}
