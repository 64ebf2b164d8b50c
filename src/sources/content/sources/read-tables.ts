import type { PostgresClient } from "../../../schema/postgres-client.ts";

export interface TableSchema {
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly comment: string | null;
  readonly columns: readonly ColumnSchema[];
  readonly constraints: readonly { readonly name: string; readonly definition: string }[];
}

export interface ColumnSchema {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly comment: string | null;
}

type Row = Readonly<Record<string, unknown>>;

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
export async function readTables(
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

function toTable(rows: readonly Row[], constraints: readonly Row[]): TableSchema {
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

async function rowsOf(client: PostgresClient, sql: string, params: unknown[]): Promise<readonly Row[]> {
  return (await client.query(sql, params)).rows as readonly Row[];
}

function keyOf(row: Row): string {
  return JSON.stringify([row.schema_name, row.table_name]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
