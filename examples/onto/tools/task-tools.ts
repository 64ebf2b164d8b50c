// Tasks, and the documents of a task's workspace.
import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { createDocument } from "../document-tree.ts";
import { edgesOf, linkEntities } from "../edges.ts";
import { createEntity, getEntity, toDetails } from "../entities.ts";
import { createFields, idOf } from "../kinds.ts";
import { defineWrite } from "./define-write.ts";

export function taskTools(onto: Onto): AnyTool[] {
  const { database } = onto;
  return [
    // onto.task.create
    defineWrite(onto, {
      name: "create_onto_task",
      description:
        "Creates a task for a person to do later. Search first: the same task may be there already.",
      inputSchema: z.strictObject({
        project_id: idOf("project"),
        ...createFields("task"),
        plan_id: idOf("plan").optional(),
      }),
      examples: [
        { args: { project_id: "prj_atlas", title: "Call the data supplier", priority: 2 } },
        {
          args: { project_id: "prj_atlas", title: "Draw the new logo", plan_id: "plan_press" },
          note: "as part of a plan",
        },
      ],
      policy: {
        do: ["The user asks for a task", "A person has to act at a later time"],
        dont: [
          "Work that you can do now, such as research or analysis",
          "Tasks that only make you look busy",
        ],
        edgeCases: ["Not clear whether a task is wanted: ask one question, or go on without"],
      },
      phrases: ["add a task", "put it on the to-do list", "remind someone to do something"],
      relatedTools: ["search_onto_tasks", "list_onto_tasks"],
      guidance: [{ route: "link_onto_entities", prose: "Relate it to a goal, a milestone or another task." }],
      run({ plan_id, ...fields }) {
        const task = createEntity(onto, "task", fields);
        if (plan_id !== undefined) linkEntities(database, task.id, "part_of", plan_id);
        return { task: toDetails(task) };
      },
    }),

    defineTool({
      name: "list_task_documents",
      op: "onto.task.docs.list",
      description: "Lists the documents in the workspace of one task.",
      inputSchema: z.strictObject({ task_id: idOf("task") }),
      examples: [{ args: { task_id: "task_rate_limits" } }],
      phrases: ["documents of a task", "what is attached to the task"],
      extraction: { path: "documents", type: "document", nameField: "title", isArray: true },
      execute: ({ task_id }) => {
        getEntity(database, task_id, "task");
        const attached = edgesOf(database, task_id).filter(({ rel }) => rel === "has_document");
        const documents = attached.map(({ to_id }) => getEntity(database, to_id));
        return {
          documents: documents.map(({ id, title, state_key, type_key }) => ({
            id,
            title,
            state_key,
            type_key,
          })),
        };
      },
    }),

    defineWrite(onto, {
      name: "create_task_document",
      op: "onto.task.doc.create_or_attach",
      description:
        "Puts a document into the workspace of a task: one that is there (document_id), or a new one (title, content).",
      inputSchema: z
        .strictObject({
          task_id: idOf("task"),
          document_id: idOf("document").optional(),
          title: createFields("document").title.optional(),
          content: z.string().max(100_000).optional(),
          parent_id: idOf("document").optional().describe("The folder for a new document"),
        })
        .refine(({ document_id, title }) => (document_id === undefined) !== (title === undefined), {
          message: "give either document_id or title",
          path: ["document_id"],
        }),
      examples: [
        { args: { task_id: "task_load_test", title: "Load test results", content: "To be filled in." } },
        {
          args: { task_id: "task_review_spec", document_id: "doc_api_spec" },
          note: "attaches one that is there",
        },
      ],
      phrases: ["attach a document to a task", "add a note to the task"],
      run({ task_id, document_id, title, content, parent_id }) {
        const { project_id } = getEntity(database, task_id, "task");
        const document =
          document_id === undefined
            ? createDocument(onto, {
                project_id,
                title: title!,
                type_key: "note",
                state_key: "draft",
                ...(content !== undefined && { content }),
                ...(parent_id !== undefined && { parent_id }),
              })
            : getEntity(database, document_id, "document");
        const { edge, created } = linkEntities(database, task_id, "has_document", document.id);
        if (!created)
          throw problem("CONFLICT", { reason: `${document.id} is already in the workspace of ${task_id}.` });
        return { document: toDetails(document), edge };
      },
    }),
  ];
}
