import type { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import type { RecordStore } from "../../core/access/record-store.ts";
import { fromStoredText, toStoredText } from "../../core/storage/postgres-client.ts";
import type { Database } from "./database.ts";

/** Keeps decisions of a person in PostgreSQL. `refresh` reads the primary, so no decision is missed. */
export async function createPostgresRecords<T>(
  { tables: { records, counters }, query }: Database,
  part: string,
  record: z.ZodType<T>,
): Promise<RecordStore<T>> {
  const counter = `records ${part}`;
  let version = "";
  let known = new Map<string, T>();

  /** One statement, so that records and version belong together. */
  async function read(): Promise<void> {
    const rows = await query(
      `select c.value::text as version, r.key, r.value from ${counters} c
       left join ${records} r on r.part = $1 where c.name = $2`,
      [part, counter],
    );
    const found = rows.flatMap(({ key, value }): [string, T][] => {
      const given = record.safeParse(parse(value));
      return given.success ? [[fromStoredText(String(key)), given.data]] : [];
    });
    known = new Map(found);
    version = String(rows[0]?.version ?? "");
  }

  async function refresh(): Promise<boolean> {
    const [row] = await query(
      `select pg_is_in_recovery() as behind, (select value::text from ${counters} where name = $1) as version`,
      [counter],
    );
    // A replica may not know yet what was revoked.
    if (row?.behind) throw problem("STATE_UNREACHABLE");
    if ((row?.version ?? "") === version) return false;
    await read();
    return true;
  }

  await read();
  return {
    damage: undefined,
    get: (key) => known.get(key),
    keys: () => [...known.keys()],
    refresh,
    change: async (changes) => {
      const all = [...changes].map(([key, value]) => [toStoredText(key), value] as const);
      const set = all.filter(([, value]) => value !== undefined);
      await query(
        `with bumped as (
           insert into ${counters} as c values ($1, 1) on conflict (name) do update set value = c.value + 1
         ), gone as (
           delete from ${records} where part = $2 and key = any($3::text[])
         )
         insert into ${records} select $2, k, v from unnest($4::text[], $5::text[]) as given(k, v)
         on conflict (part, key) do update set value = excluded.value`,
        [
          counter,
          part,
          all.filter(([, value]) => value === undefined).map(([key]) => key),
          set.map(([key]) => key),
          set.map(([, value]) => JSON.stringify(value)),
        ],
      );
      await read();
    },
  };
}

function parse(value: unknown): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return undefined;
  }
}
