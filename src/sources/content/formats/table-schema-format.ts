import { field, listOf } from "../../../base/util/plain-object.ts";
import { uniqueName } from "../../../base/util/unique-name.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import {
  defineFormat,
  type FormatDocument,
  labelled,
  paragraphs,
  readJson,
  resourcePath,
  toNode,
  wordsOf,
} from "./to-node.ts";

export const createTableSchemaFormat = defineFormat("TableSchema", /^table-schema$/, toTable);

function toTable(document: FormatDocument): ResourceNode {
  const { content, path } = document;
  const table = readJson(content);
  const name = wordsOf(table, "name") || content.name;
  const schema = wordsOf(table, "schema");
  const kind = wordsOf(table, "kind") || "table";
  const comment = wordsOf(table, "comment");
  const columns = listOf(field(table, "columns"));
  const constraints = listOf(field(table, "constraints")).map(
    (constraint) => `- ${wordsOf(constraint, "definition")}`,
  );
  const title = schema ? `${schema}.${name}` : name;
  const head = paragraphs(`# ${title}`, comment);
  const list = columns.map((column) => `- ${columnLine(column)}`).join("\n");
  const taken = new Set<string>();
  const facts = { schema, table: name };
  const children = columns.map((column) => {
    const place = resourcePath(path, "columns", wordsOf(column, "name"));
    return toColumn(column, title, { ...document, path: uniqueName(place, taken) }, facts);
  });
  const whole = { ...document, options: { passageChars: Number.MAX_SAFE_INTEGER } };
  return toNode(whole, {
    name,
    type: "table",
    content: paragraphs(
      head,
      `## Columns of the ${kind}\n\n${list}`,
      constraints.length > 0 && `## Constraints\n\n${constraints.join("\n")}`,
    ),
    // Column names also find the table; their comments find the columns.
    ownText: paragraphs(head, columns.map((column) => wordsOf(column, "name")).join(", ")),
    description: comment || `The ${kind} ${title} with ${columns.length} columns.`,
    isBare: comment === "",
    metadata: { ...facts, columns: columns.length },
    children,
  });
}

function toColumn(
  column: unknown,
  table: string,
  document: FormatDocument,
  facts: Readonly<Record<string, string>>,
): ResourceNode {
  const name = wordsOf(column, "name");
  const comment = wordsOf(column, "comment");
  const type = wordsOf(column, "type");
  const properties = {
    Type: type,
    Nullable: isNullable(column) ? "yes" : "no",
    Default: wordsOf(column, "default"),
  };
  return toNode(document, {
    id: `${document.content.id}#${name}`,
    name,
    type: "column",
    content: [`${table}.${name}`, labelled(properties), comment].filter(Boolean).join("\n"),
    description: comment || `${type} column of ${table}`,
    isBare: comment === "",
    metadata: { ...facts, column: name, data_type: type },
  });
}

function columnLine(column: unknown): string {
  const required = isNullable(column) ? "" : ", not null";
  const comment = wordsOf(column, "comment");
  return `${wordsOf(column, "name")} (${wordsOf(column, "type")}${required})${comment && `: ${comment}`}`;
}

function isNullable(column: unknown): boolean {
  return field(column, "nullable") !== false;
}
