// Documents and the tree that they form.
import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import type { Onto } from "../database.ts";
import { createDocument, getPath, getTree, moveDocument } from "../document-tree.ts";
import { toDetails } from "../entities.ts";
import { createFields, idOf } from "../kinds.ts";
import { defineWrite } from "./define-write.ts";

export function documentTools(onto: Onto): AnyTool[] {
  const { database } = onto;
  return [
    // onto.document.create
    defineWrite(onto, {
      name: "create_onto_document",
      description: "Creates a document or a folder in the document tree of a project.",
      inputSchema: z.strictObject({
        project_id: idOf("project"),
        ...createFields("document"),
        parent_id: idOf("document").optional().describe("The folder to put it in; absent: at the top"),
      }),
      examples: [
        {
          args: {
            project_id: "prj_atlas",
            title: "Release notes",
            content: "# 1.0",
            parent_id: "doc_marketing",
          },
        },
      ],
      phrases: ["write a document", "new note", "add a folder"],
      relatedTools: ["search_onto_documents", "get_document_tree"],
      run: (fields) => ({ document: toDetails(createDocument(onto, fields)) }),
    }),

    // onto.document.tree.get
    defineTool({
      name: "get_document_tree",
      description: "The documents of a project as a tree. Folders are documents that have others below them.",
      inputSchema: z.strictObject({
        project_id: idOf("project"),
        include_documents: z.boolean().default(false).describe("Titles and states too, not only ids"),
      }),
      examples: [{ args: { project_id: "prj_atlas", include_documents: true } }],
      phrases: ["folders of a project", "outline of all documents", "which folder"],
      relatedTools: ["move_document_in_tree"],
      execute: ({ project_id, include_documents }) => ({
        tree: getTree(database, project_id, include_documents),
      }),
    }),

    // onto.document.path.get
    defineTool({
      name: "get_document_path",
      description: "Where a document is: the folders from the top of the tree down to it.",
      inputSchema: z.strictObject({ document_id: idOf("document") }),
      examples: [{ args: { document_id: "doc_adr_1" } }],
      phrases: ["in which folder is a document", "breadcrumbs"],
      execute: ({ document_id }) => ({
        path: getPath(database, document_id).map(({ id, title }) => ({ id, title })),
      }),
    }),

    // onto.document.tree.move
    defineWrite(onto, {
      name: "move_document_in_tree",
      description: "Moves a document, with everything below it, under another one of its project.",
      inputSchema: z.strictObject({
        project_id: idOf("project"),
        document_id: idOf("document"),
        new_parent_id: idOf("document").nullable().describe("The document to put it under; null for the top"),
      }),
      examples: [
        { args: { project_id: "prj_atlas", document_id: "doc_launch", new_parent_id: "doc_engineering" } },
      ],
      notes: ["The document becomes the last child of its new parent."],
      phrases: ["put a document into another folder", "drag a document under"],
      relatedTools: ["get_document_tree"],
      run({ project_id, document_id, new_parent_id }) {
        const from = getPath(database, document_id).map(({ title }) => title);
        const document = moveDocument(onto, project_id, document_id, new_parent_id);
        const to = getPath(database, document_id).map(({ title }) => title);
        return { document: toDetails(document), from, to };
      },
    }),
  ];
}
