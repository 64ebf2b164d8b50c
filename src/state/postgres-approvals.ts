import { randomBytes } from "node:crypto";
import { toStoredText } from "../search/port/stored-text.ts";
import {
  APPROVAL_MS,
  MOST_APPROVALS,
  SECRET_BYTES,
  type SpentApprovals,
} from "../session/spent-approvals.ts";
import type { Database } from "./database.ts";

const SWEEP_EVERY = 256;

/** Keeps spent approvals in PostgreSQL, under one secret for all gateways. */
export async function createPostgresApprovals(database: Database): Promise<SpentApprovals> {
  const { tables, query } = database;
  const { approvals } = tables;
  let untilSweep = 0;

  async function sweep(): Promise<void> {
    untilSweep -= 1;
    if (untilSweep >= 0) return;
    untilSweep = SWEEP_EVERY;
    await query(`delete from ${approvals} where expires_at <= now()`);
  }

  return {
    secret: await sharedSecret(database),
    spend: async (nonce, principalId) => {
      await sweep();
      const rows = await query(
        `insert into ${approvals} select $1, $2, now() + $3 * interval '1 millisecond'
         where (select count(*) < $4 from ${approvals} where principal = $2 and expires_at > now())
         on conflict do nothing returning 1`,
        [toStoredText(nonce), toStoredText(principalId), APPROVAL_MS, MOST_APPROVALS.perPrincipal],
      );
      return rows.length > 0;
    },
  };
}

/** The first gateway makes it. */
async function sharedSecret({ tables: { counters }, query }: Database): Promise<Uint8Array> {
  const made = randomBytes(SECRET_BYTES).toString("hex");
  await query(`insert into ${counters} values ('approvals', 0, decode($1, 'hex')) on conflict do nothing`, [
    made,
  ]);
  const [row] = await query(
    `select encode(secret, 'hex') as secret from ${counters} where name = 'approvals'`,
  );
  return Buffer.from(String(row?.secret), "hex");
}
