import { randomUUID } from "node:crypto";
import type { GatewayGroup } from "../../core/storage/idempotency.ts";
import type { Database } from "./database.ts";

/** Membership of this gateway in the group that shares the state. */
export interface Membership extends GatewayGroup {
  /** Leaves the group. Other gateways then treat the running calls of this one as OUTCOME_UNKNOWN. */
  close(): Promise<void>;
}

const BEATS = 4;
/** How long a gateway's row stays after it was last seen. */
const FORGET = "1 day";

/** Joins the group and renews the lease at short intervals, by the clock of the database. */
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
    // The next beat tries again.
    beating = beating.then(beat).catch(() => {});
  }, leaseMs / BEATS).unref();

  return {
    id,
    isRunning: async (other) => {
      const lease = `${Number(leaseMs)} * interval '1 millisecond'`;
      const rows = await query(`select 1 from ${gateways} where id = $1 and seen_at >= now() - ${lease}`, [
        other,
      ]);
      return rows.length > 0;
    },
    close: async () => {
      clearInterval(timer);
      await beating;
      // Without the database, the lease expires.
      await query(`delete from ${gateways} where id = $1`, [id]).catch(() => {});
    },
  };
}
