import { problem } from "../../../base/problems/problem.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import { listOf } from "../../../base/util/plain-object.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../../core/nouns/pipeline.ts";
import type { PostgresClient } from "../../../core/storage/postgres-client.ts";

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

/** Reads columns, comments and constraints of tables and views in PostgreSQL or Redshift, never rows. */
export function createPostgresSource(options: PostgresSourceOptions): ContentSource {
  const { client, schemas = ["public"], tables = ["*"] } = options;
  const name = options.name ?? `${schemas.join(",")}:${tables.join(",")}`;
  const patterns = tables.map(toPattern);
  const isChosen = (table: string) => patterns.some((pattern) => pattern.test(table));

  async function read(
    context: FetchContext | undefined,
    within: readonly string[],
    table?: string,
  ): Promise<TableSchema[]> {
    const described = await readTables(client, within, table).catch((error: unknown) => {
      throw problem("SOURCE_INVALID", { name, reason: `the database answered: ${reasonOf(error)}` });
    });
    if (context?.signal.aborted) throw problem("CANCELLED", { name });
    return described.filter((one) => isChosen(one.name));
  }

  return {
    name,
    listDocuments: async (context) => {
      const described = await read(context, schemas);
      context?.progress({ done: described.length, total: described.length, message: `${name}: tables` });
      return described.map((table) => toDocument(table, schemas.length > 1));
    },
    fetchContent: async (documentId, context): Promise<RawContent> => {
      const [schema = "", wanted] = namesIn(documentId);
      const [table] = wanted && schemas.includes(schema) ? await read(context, [schema], wanted) : [];
      if (table === undefined) throw problem("NOT_FOUND", { name: documentId });
      return { ...toDocument(table, schemas.length > 1), content: JSON.stringify(table) };
    },
  };
}

/** `*` is a wildcard; every other character is literal. */
function toPattern(table: string): RegExp {
  const escaped = table.replace(/[\\^$.|?+()[\]{}]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, "s");
}

/** Names may contain dots, so an id is JSON. */
function toDocument(table: TableSchema, withSchema: boolean): RawDocument {
  const { schema, name } = table;
  const names = withSchema ? [schema, name] : [name];
  return {
    id: JSON.stringify([schema, name]),
    name: names.join("."),
    contentType: "table-schema",
    version: contentHash(table),
    metadata: { path: names.map((part) => part.replaceAll("/", "_")).join("/") },
  };
}

function namesIn(documentId: string): string[] {
  try {
    return listOf(JSON.parse(documentId)).map(String);
  } catch {
    return [];
  }
}

type TableSchema = ReturnType<typeof toTable>;
type ColumnRow = Readonly<Record<string, unknown>>;

const KINDS: ReadonlyMap<unknown, string> = new Map([
  ["r", "table"],
  ["p", "partitioned table"],
  ["v", "view"],
  ["m", "materialized view"],
  ["f", "foreign table"],
]);

/** Also runs on Redshift: no arrays, no lateral joins, no newer functions. */
const COLUMNS = `
  select n.nspname as schema_name, c.relname as table_name, c.relkind as kind, a.attname as column_name,
    format_type(a.atttypid, a.atttypmod) as data_type, a.attnotnull as not_null,
    pg_get_expr(f.adbin, f.adrelid) as default_value,
    t.description as table_comment, d.description as column_comment
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_attrdef f on f.adrelid = c.oid and f.adnum = a.attnum
  left join pg_catalog.pg_description t
    on t.objoid = c.oid and t.objsubid = 0 and t.classoid = 'pg_catalog.pg_class'::regclass
  left join pg_catalog.pg_description d
    on d.objoid = c.oid and d.objsubid = a.attnum and d.classoid = 'pg_catalog.pg_class'::regclass
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and `;

const CONSTRAINTS = `
  select n.nspname as schema_name, c.relname as table_name, k.conname as name,
    pg_get_constraintdef(k.oid) as definition
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.conrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where k.contype in ('p', 'u', 'f', 'c') and `;

/** Reads the tables of the schemas, or one table. */
async function readTables(
  client: PostgresClient,
  schemas: readonly string[],
  table?: string,
): Promise<TableSchema[]> {
  if (schemas.length === 0) return [];
  const places = schemas.map((_, index) => `$${index + 1}`).join(", ");
  const one = table === undefined ? "" : ` and c.relname = $${schemas.length + 1}`;
  const where = `n.nspname in (${places})${one}`;
  const params = [...schemas, ...(table === undefined ? [] : [table])];
  const columns = await rowsOf(client, `${COLUMNS}${where} order by 1, 2, a.attnum`, params);
  const constraints = await rowsOf(client, `${CONSTRAINTS}${where} order by 1, 2, k.contype desc, 3`, params);
  const constraintsOf = Map.groupBy(constraints, keyOf);
  return [...Map.groupBy(columns, keyOf)].map(([key, rows]) => toTable(rows, constraintsOf.get(key) ?? []));
}

function toTable(rows: readonly ColumnRow[], constraints: readonly ColumnRow[]) {
  const [first] = rows;
  return {
    schema: String(first?.schema_name),
    name: String(first?.table_name),
    kind: KINDS.get(String(first?.kind)) ?? "table",
    comment: textOrNull(first?.table_comment),
    columns: rows.map((row) => ({
      name: String(row.column_name),
      type: String(row.data_type),
      nullable: row.not_null !== true,
      default: textOrNull(row.default_value),
      comment: textOrNull(row.column_comment),
    })),
    constraints: constraints.map((row) => ({ name: String(row.name), definition: String(row.definition) })),
  };
}

async function rowsOf(client: PostgresClient, sql: string, params: unknown[]): Promise<readonly ColumnRow[]> {
  return (await client.query(sql, params)).rows as readonly ColumnRow[];
}

function keyOf(row: ColumnRow): string {
  return JSON.stringify([row.schema_name, row.table_name]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
