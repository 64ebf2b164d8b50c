import { randomUUID } from "node:crypto";
import type { GatewayGroup } from "../../core/storage/idempotency.ts";
import type { Database } from "./database.ts";

/** This gateway among those that share the state. */
export interface Membership extends GatewayGroup {
  /** SQL that is true for the id of a gateway that has been seen lately. */
  isAlive(column: string): string;
  /** Leaves the group. Other gateways then treat the running calls of this one as OUTCOME_UNKNOWN. */
  close(): Promise<void>;
}

const BEATS = 4;
/** How long the row of a gateway stays after its last sign of life. */
const FORGET = "1 day";

/** Joins, and marks this gateway as alive at short intervals, by the clock of the database. */
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

  function isAlive(column: string): string {
    return `exists (select from ${gateways} g where g.id = ${column}
      and g.seen_at >= now() - ${Number(leaseMs)} * interval '1 millisecond')`;
  }

  return {
    id,
    isAlive,
    isRunning: async (other) => {
      const [row] = await query(`select ${isAlive("$1")} as alive`, [other]);
      return row?.alive === true;
    },
    close: async () => {
      clearInterval(timer);
      await beating;
      // Without the database, the lease ends by itself.
      await query(`delete from ${gateways} where id = $1`, [id]).catch(() => {});
    },
  };
}
