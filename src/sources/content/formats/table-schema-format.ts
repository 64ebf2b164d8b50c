import { field, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import {
  type CreateFormat,
  defineFormat,
  documentFacts,
  type FormatDocument,
  type FormatOptions,
  labelled,
  lines,
  paragraphs,
  readJson,
  resourcePath,
  toNode,
  uniqueName,
  wordsOf,
} from "./to-node.ts";

/** Format for tables: one node for the table, and one under `columns/` for each column. */
export const createTableSchemaFormat: CreateFormat = defineFormat(
  "TableSchema",
  (type) => type === "table-schema",
  toTable,
);

function toTable({ content, path, options }: FormatDocument): ResourceNode {
  const table = readJson(content);
  const name = wordsOf(table, "name") || content.name;
  const schema = wordsOf(table, "schema");
  const kind = wordsOf(table, "kind") || "table";
  const comment = wordsOf(table, "comment");
  const columns = listOf(field(table, "columns")).map((column) => column as PlainObject);
  const constraints = listOf(field(table, "constraints")).map(
    (constraint) => `- ${wordsOf(constraint, "definition")}`,
  );
  const title = schema ? `${schema}.${name}` : name;
  const head = paragraphs(`# ${title}`, comment);
  const list = [`## Columns of the ${kind}`, "", ...columns.map((column) => `- ${columnLine(column)}`)];
  const text = paragraphs(
    head,
    list.join("\n"),
    constraints.length > 0 && ["## Constraints", "", ...constraints].join("\n"),
  );
  const taken = new Set<string>();
  const facts = { ...documentFacts(content), schema, table: name };
  const children = columns.map((column) => {
    const place = resourcePath(path, "columns", wordsOf(column, "name"));
    return toColumn(column, { id: content.id, table: title, path: uniqueName(place, taken), facts }, options);
  });
  return toNode(
    {
      id: content.id,
      name,
      path,
      type: "table",
      content: text,
      // Column names also find the table; their comments find the columns.
      ownText: paragraphs(head, columns.map((column) => wordsOf(column, "name")).join(", ")),
      description: comment || `The ${kind} ${title} with ${columns.length} columns.`,
      isBare: comment === "",
      metadata: { ...facts, columns: columns.length },
      children,
    },
    { ...options, passageChars: Number.MAX_SAFE_INTEGER },
  );
}

interface ColumnPlace {
  readonly id: string;
  readonly table: string;
  readonly path: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

function toColumn(column: PlainObject, place: ColumnPlace, options: FormatOptions): ResourceNode {
  const name = wordsOf(column, "name");
  const comment = wordsOf(column, "comment");
  const type = wordsOf(column, "type");
  return toNode(
    {
      id: `${place.id}#${name}`,
      name,
      path: place.path,
      type: "column",
      content: lines(
        `${place.table}.${name}`,
        labelled("Type", type),
        labelled("Nullable", field(column, "nullable") === false ? "no" : "yes"),
        labelled("Default", wordsOf(column, "default")),
        comment,
      ),
      description: comment || `${type} column of ${place.table}`,
      isBare: comment === "",
      metadata: { ...place.facts, column: name, data_type: type },
    },
    options,
  );
}

function columnLine(column: PlainObject): string {
  const required = field(column, "nullable") === false ? ", not null" : "";
  const comment = wordsOf(column, "comment");
  return `${wordsOf(column, "name")} (${wordsOf(column, "type")}${required})${comment ? `: ${comment}` : ""}`;
}
