// What the warehouse knows about one customer, computed from its tables.
import { problem } from "keyhole";
import { REPORTING_LIMIT, warehouse } from "./data.ts";

interface Profile {
  readonly user_id: string;
  readonly name: string;
  /** 0 to 100. */
  readonly risk: number;
  readonly lifetime_spend: number;
  readonly wallet: string | null;
}

export function profileOf(userId: string): Profile {
  const user = warehouse.prepare("SELECT * FROM dim_user WHERE user_id = ?").get(userId);
  if (!user) throw problem("NOT_FOUND", { name: `user ${userId}` });
  const wallet = user.wallet as string | null;
  const sharesDevice =
    count("SELECT count(*) AS n FROM dim_user WHERE device_id = ?", String(user.device_id)) > 1;
  const structuring = Math.min(60, transfersJustUnderLimit(userId).count * 4);
  return {
    user_id: userId,
    name: String(user.name),
    risk: structuring + (sharesDevice ? 15 : 0) + (wallet ? 10 : 0),
    lifetime_spend: count("SELECT sum(amount) AS n FROM fact_orders WHERE user_id = ?", userId),
    wallet,
  };
}

/** Transfers within a tenth below the reporting limit. */
export function transfersJustUnderLimit(userId: string): { count: number; total: number } {
  const found = warehouse
    .prepare("SELECT amount FROM fact_transfers WHERE user_id = ? AND amount >= ? AND amount < ?")
    .all(userId, REPORTING_LIMIT * 0.9, REPORTING_LIMIT);
  return { count: found.length, total: found.reduce((sum, { amount }) => sum + Number(amount), 0) };
}

function count(sql: string, parameter: string): number {
  return Number(warehouse.prepare(sql).get(parameter)?.n ?? 0);
}
