import { problem } from "../../base/problems/problem.ts";
import { checkAfter } from "../../base/util/single-flight.ts";
import { fromStoredText, toStoredText } from "../../core/storage/postgres-client.ts";
import type { RecordStorage } from "../../core/storage/records.ts";
import type { Database } from "./database.ts";

/** Records in PostgreSQL. Reads the primary, so that it misses no change. */
export function createPostgresRecords({ tables: { records, counters }, query }: Database): RecordStorage {
  const counterOf = (kind: string) => `records ${kind}`;

  let asked = new Set<string>();
  let versions: ReadonlyMap<string, string> = new Map();
  /** Callers that arrive during a query share the next one, whatever they ask for. */
  const ask = checkAfter(async () => {
    const names = [...asked];
    asked = new Set();
    const rows = await query(
      `select pg_is_in_recovery() as behind, c.name, c.value::text as version
       from (select) as one left join ${counters} c on c.name = any($1::text[])`,
      [names],
    );
    // A replica may lack recent revocations.
    if (rows[0]?.behind) throw problem("STATE_UNREACHABLE");
    versions = new Map(rows.map(({ name, version }) => [String(name), String(version)]));
  });
  async function versionOf(kind: string): Promise<string> {
    asked.add(counterOf(kind));
    await ask();
    return versions.get(counterOf(kind)) ?? "";
  }

  return {
    name: "PostgreSQL",
    isShared: true,
    read: async (kind, knownVersion) => {
      if ((await versionOf(kind)) === knownVersion) return undefined;
      // One statement, so that records and version match.
      const rows = await query(
        `select c.value::text as version, r.key, r.value from ${counters} c
         left join ${records} r on r.part = $1 where c.name = $2`,
        [kind, counterOf(kind)],
      );
      const texts = rows
        .filter(({ key }) => key !== null)
        .map(({ key, value }) => [fromStoredText(String(key)), String(value)] as const);
      return { version: String(rows[0]?.version ?? ""), texts: new Map(texts) };
    },
    change: async (kind, changes, onlyNew = false) => {
      const all = [...changes].map(([key, value]) => [toStoredText(key), value] as const);
      const set = all.filter(([, value]) => value !== undefined);
      const [changed] = await query(
        `with bumped as (
           insert into ${counters} as c values ($1, 1) on conflict (name) do update set value = c.value + 1
         ), gone as (
           delete from ${records} where part = $2 and key = any($3::text[]) returning 1
         ), added as (
           insert into ${records} select $2, k, v from unnest($4::text[], $5::text[]) as given(k, v)
           on conflict (part, key) do ${onlyNew ? "nothing" : "update set value = excluded.value"} returning 1
         )
         select (select count(*) from gone) + (select count(*) from added) as count`,
        [
          counterOf(kind),
          kind,
          all.filter(([, value]) => value === undefined).map(([key]) => key),
          set.map(([key]) => key),
          set.map(([, value]) => value),
        ],
      );
      return Number(changed?.count);
    },
  };
}
