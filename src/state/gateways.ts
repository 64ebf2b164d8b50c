import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";

/** This gateway among those that share the state. */
export interface Membership {
  readonly id: string;
  /** SQL that is true for the id of a gateway that has been seen lately. */
  isAlive(column: string): string;
  /** Leaves. Calls that still run here have an unknown outcome for the others. */
  close(): Promise<void>;
}

const BEATS = 4;
/** How long others remember a gateway that does not answer any more. */
const FORGET = "1 day";

/** Joins, and tells the others at short intervals that this gateway is alive, by the clock of the database. */
export async function joinGateways(
  { tables: { gateways }, query }: Database,
  leaseMs: number,
): Promise<Membership> {
  const id = randomUUID();
  let beating: Promise<unknown> = Promise.resolve();

  function beat(): Promise<unknown> {
    return query(
      `with gone as (delete from ${gateways} where seen_at < now() - interval '${FORGET}')
       insert into ${gateways} values ($1, now()) on conflict (id) do update set seen_at = now()`,
      [id],
    );
  }

  await beat();
  const timer = setInterval(() => {
    // The next one tries again.
    beating = beating.then(beat).catch(() => {});
  }, leaseMs / BEATS).unref();

  return {
    id,
    isAlive: (column) =>
      `exists (select from ${gateways} g where g.id = ${column}
         and g.seen_at >= now() - ${Number(leaseMs)} * interval '1 millisecond')`,
    close: async () => {
      clearInterval(timer);
      await beating;
      // Without its database, the others notice by themselves.
      await query(`delete from ${gateways} where id = $1`, [id]).catch(() => {});
    },
  };
}
