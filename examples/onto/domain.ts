// Existing functions as tools. None has a route: op, address and lane all come from the function's name.
import type { DatabaseSync } from "node:sqlite";
import { type DomainDefinition, defineDomain, defineTool } from "keyhole";
import { z } from "zod";
import { createTask, getDocument, getTree, moveDocument, searchDocuments, subtreeIds } from "./documents.ts";

export function createOntoDomain(database: DatabaseSync): DomainDefinition {
  return defineDomain({
    name: "onto",
    description: "Projects with their documents and tasks.",
    rules: "Read before you write: search for the thing first, so that you do not make it twice.",
    tools: [
      // onto.document.search
      defineTool({
        name: "search_onto_documents",
        description: "Finds documents by words of their title, in all projects.",
        inputSchema: z.object({ search: z.string().min(1), limit: z.int().min(1).max(50).default(10) }),
        relatedTools: ["get_onto_document_details", "get_document_tree"],
        execute: ({ search, limit }) => ({ documents: searchDocuments(database, search, limit) }),
      }),

      // onto.document.get
      defineTool({
        name: "get_onto_document_details",
        description: "One document, with its place in the tree.",
        inputSchema: z.object({ document_id: z.string() }),
        execute: ({ document_id }) => getDocument(database, document_id),
      }),

      // onto.document.tree.get, with a JSON Schema: either kind gives `execute` its types
      defineTool({
        name: "get_document_tree",
        description: "The documents of a project as a tree. Folders are documents that have children.",
        inputSchema: {
          type: "object",
          properties: {
            project_id: { type: "string" },
            include_documents: { type: "boolean", default: false, description: "Titles too, not only ids" },
          },
          required: ["project_id"],
          additionalProperties: false,
        },
        execute: ({ project_id, include_documents }) => ({
          tree: getTree(database, project_id, include_documents ?? false),
        }),
      }),

      // onto.document.tree.move, in the write lane
      defineTool({
        name: "move_document_in_tree",
        description: "Moves a document, with everything below it, under another one of its project.",
        inputSchema: {
          type: "object",
          properties: {
            project_id: { type: "string" },
            document_id: { type: "string" },
            new_parent_id: { type: "string", description: "The document to put it under" },
          },
          required: ["project_id", "document_id", "new_parent_id"],
          additionalProperties: false,
        },
        examples: [
          { args: { project_id: "prj_atlas", document_id: "doc_launch", new_parent_id: "doc_engineering" } },
        ],
        notes: ["The document becomes the last child of its new parent."],
        execute: ({ project_id, document_id, new_parent_id }) =>
          moveDocument(database, project_id, document_id, new_parent_id),
      }),

      // onto.document.delete, in the destructive lane: runs dry unless told otherwise
      defineTool({
        name: "delete_onto_document",
        description: "Deletes a document and everything below it.",
        inputSchema: z.object({ document_id: z.string() }),
        dryRun: ({ document_id }) => ({
          would_delete: subtreeIds(database, getDocument(database, document_id)),
        }),
        execute({ document_id }) {
          const deleted = subtreeIds(database, getDocument(database, document_id));
          database.prepare("DELETE FROM documents WHERE id = ?").run(document_id);
          return { deleted };
        },
      }),

      // onto.task.create
      defineTool({
        name: "create_onto_task",
        description: "Creates a task for a person to do later.",
        inputSchema: z.object({
          project_id: z.string(),
          title: z.string().min(1),
          priority: z.int().min(1).max(5).default(3),
        }),
        policy: {
          do: ["The user asks for a task", "A person has to act at a later time"],
          dont: ["Work that you can do now", "Tasks that only make you look busy"],
          edge_cases: ["Not clear whether a task is wanted: ask once, or go on without"],
        },
        execute: (task) => createTask(database, task),
      }),
    ],
  });
}
