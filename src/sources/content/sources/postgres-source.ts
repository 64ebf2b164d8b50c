import type { ContentSource, RawContent, RawDocument } from "../../../schema/pipeline.ts";
import type { PostgresClient } from "../../../schema/postgres-client.ts";
import { problem } from "../../../schema/problem.ts";
import { contentHash } from "../../../util/content-hash.ts";
import { readTables, type TableSchema } from "./read-tables.ts";

/** Options of `postgres` of {@link contentSources}. */
export interface PostgresSourceOptions {
  /** A `Pool` or `Client` of `pg`, PGlite, or anything else with their `query`. */
  readonly client: PostgresClient;
  /** Schemas to read. Paths contain the schema if there are several. Default: `public`. */
  readonly schemas?: readonly string[];
  /** Table names, with `*` as a wildcard, such as `fact_*`. Default: all. */
  readonly tables?: readonly string[];
  readonly name?: string;
}

/**
 * Creates a source for the tables and views of a PostgreSQL or Redshift database. It reads columns, comments and
 * constraints, never rows.
 */
export function createPostgresSource(options: PostgresSourceOptions): ContentSource {
  const { client, schemas = ["public"], tables = ["*"] } = options;
  const name = options.name ?? `${schemas.join(",")}:${tables.join(",")}`;
  const isChosen = (table: string) => tables.some((pattern) => matches(table, pattern));

  async function read(cancelled: () => boolean, table?: TableName): Promise<TableSchema[]> {
    const within = table ? [table.schema] : schemas;
    const found = await readTables(client, within, table?.name).catch((error: unknown) => {
      const reason = `the database answered: ${error instanceof Error ? error.message : String(error)}`;
      throw problem("SOURCE_INVALID", { name, reason });
    });
    if (cancelled()) throw problem("CANCELLED", { name });
    return found.filter((one) => isChosen(one.name));
  }

  return {
    name,
    listDocuments: async (context) => {
      const found = await read(() => context?.signal.aborted === true);
      context?.progress({ done: found.length, total: found.length, message: `${name}: tables` });
      return found.map((table) => toDocument(table, schemas.length > 1));
    },
    fetchContent: async (documentId, context): Promise<RawContent> => {
      const wanted = toName(documentId);
      const isKnown = wanted !== undefined && schemas.includes(wanted.schema);
      const [table] = isKnown ? await read(() => context?.signal.aborted === true, wanted) : [];
      if (table === undefined) throw problem("NOT_FOUND", { name: documentId });
      return { ...toDocument(table, schemas.length > 1), content: JSON.stringify(table) };
    },
  };
}

interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** Names may contain dots, so an id is JSON. */
function toDocument(table: TableSchema, withSchema: boolean): RawDocument {
  const { schema, name } = table;
  return {
    id: JSON.stringify([schema, name]),
    name: withSchema ? `${schema}.${name}` : name,
    contentType: "table-schema",
    version: contentHash(table),
    metadata: { path: [...(withSchema ? [schema] : []), name].map(asSegment).join("/") },
  };
}

function toName(documentId: string): TableName | undefined {
  try {
    const [schema, name] = JSON.parse(documentId) as unknown[];
    return typeof schema === "string" && typeof name === "string" ? { schema, name } : undefined;
  } catch {
    return undefined;
  }
}

function asSegment(name: string): string {
  return name.replaceAll("/", "_");
}

function matches(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
