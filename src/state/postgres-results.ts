import { problem } from "../schema/problem.ts";
import { toStoredText } from "../search/port/stored-text.ts";
import type { ResultStore } from "../session/result-store.ts";
import type { Bounds } from "../util/fair-cache.ts";
import type { Json } from "../util/json.ts";
import { createRedact } from "../util/redact.ts";
import type { Database } from "./database.ts";

export interface PostgresResultsOptions {
  /** Texts that must not be written, beside those that look like secrets. */
  readonly secrets?: readonly string[];
  readonly all?: Bounds;
  readonly perPrincipal?: Bounds;
  readonly idleMs?: number;
}

const MIB = 1024 * 1024;
const ALL: Bounds = { entries: 20_000, size: 4_096 * MIB };
const PER_PRINCIPAL: Bounds = { entries: 500, size: 256 * MIB };
const IDLE_MS = 24 * 60 * 60_000;
const RENEWALS = 100;
const SWEEP_EVERY = 64;

/** Keeps results in PostgreSQL. A principal over its bound loses its own oldest results. */
export function createPostgresResults(
  { tables: { results }, query }: Database,
  { secrets = [], all = ALL, perPrincipal = PER_PRINCIPAL, idleMs = IDLE_MS }: PostgresResultsOptions = {},
): ResultStore {
  const redact = createRedact(secrets, { kinds: true });
  const live = `used_at >= now() - $3 * interval '1 millisecond'`;
  let untilSweep = 0;

  /** If all together are over their bound, principals with more than an equal share lose their oldest. */
  async function sweep(): Promise<void> {
    if (untilSweep > 0) {
      untilSweep -= 1;
      return;
    }
    untilSweep = Math.min(SWEEP_EVERY, all.entries) - 1;
    await query(`delete from ${results} where used_at < now() - $1 * interval '1 millisecond'`, [idleMs]);
    await query(
      `with ranked as (
         select handle, bytes, row_number() over w as place, sum(bytes) over w as upto
         from ${results} window w as (partition by principal order by used_at desc, handle)
       ), ordered as (
         select handle, row_number() over (order by place, handle) as entries,
           sum(bytes) over (order by upto, handle) as size
         from ranked
       )
       delete from ${results} where handle in (select handle from ordered where entries > $1 or size > $2)`,
      [all.entries, all.size],
    );
  }

  return {
    put: async (handle, value, principalId) => {
      const text = JSON.stringify(redact(value));
      const bytes = Buffer.byteLength(text);
      if (bytes > perPrincipal.size) return;
      await sweep();
      await query(
        `with old as (
           delete from ${results} where handle in (
             select handle from (
               select handle, row_number() over w as place, sum(bytes) over w as upto
               from ${results} where principal = $2 and handle <> $1
               window w as (order by used_at desc, handle)
             ) ranked where place >= $5 or upto > $6::bigint - $3::bigint
           )
         )
         insert into ${results} as kept values ($1, $2, now(), $3, $4)
         on conflict (handle) do update set used_at = now() where kept.principal = excluded.principal`,
        [handle, toStoredText(principalId), bytes, text, perPrincipal.entries, perPrincipal.size],
      );
    },
    get: async (handle, principalId) => {
      const [row] = await query(
        `select value, used_at < now() - $4 * interval '1 millisecond' as renew from ${results}
         where handle = $1 and principal = $2 and ${live}`,
        [toStoredText(handle), toStoredText(principalId), idleMs, idleMs / RENEWALS],
      );
      if (!row) throw problem("UNKNOWN_HANDLE", { handle });
      if (row.renew) await query(`update ${results} set used_at = now() where handle = $1`, [handle]);
      return JSON.parse(String(row.value)) as Json;
    },
    has: async (handle, principalId) => {
      const rows = await query(`select 1 from ${results} where handle = $1 and principal = $2 and ${live}`, [
        toStoredText(handle),
        toStoredText(principalId),
        idleMs,
      ]);
      return rows.length > 0;
    },
  };
}
