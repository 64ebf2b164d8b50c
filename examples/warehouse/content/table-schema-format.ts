// The format: a table becomes a document, and each of its columns a document below it.
import type { ContentFormat, ResourceNode } from "keyhole";
import { type ColumnSchema, TABLE_SCHEMA, type TableSchema } from "./table-source.ts";

export const tableSchemaFormat: ContentFormat = {
  name: "table schema",
  canHandle: (contentType) => contentType === TABLE_SCHEMA,
  parse: ({ content }, basePath) => [toNode(JSON.parse(content) as TableSchema, basePath)],
};

/** A table as an agent reads it. */
export function describeTable({ table, about, columns }: TableSchema): string {
  const lines = columns.map(({ name, type, about: meaning }) => `- ${name} ${type}: ${meaning}`);
  return [`## ${table}`, about, ...lines].join("\n");
}

function toNode(schema: TableSchema, basePath: string): ResourceNode {
  const { table, about, columns } = schema;
  const path = `${basePath}/${table}`;
  return {
    id: table,
    name: table,
    path,
    content: describeTable(schema),
    description: about,
    metadata: { resource_type: "table", path_segment: basePath },
    children: columns.map((column) => toColumn(column, table, path, basePath)),
  };
}

function toColumn(column: ColumnSchema, table: string, path: string, basePath: string): ResourceNode {
  const { name, type, required, about } = column;
  return {
    id: `${table}.${name}`,
    name,
    path: `${path}/columns/${name}`,
    content: `${table}.${name} ${type}${required ? ", never empty" : ""}: ${about}`,
    description: about,
    metadata: { resource_type: "column", path_segment: basePath },
  };
}
