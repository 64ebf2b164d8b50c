// A customer's profile, computed from the tables.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";

/** The law requires reporting from this amount on, so some people stay just below it. */
export const REPORTING_LIMIT = 1_000;
const MANY = 5;

export interface Indicator {
  readonly sign: string;
  readonly points: number;
}

export interface Profile {
  readonly user_id: string;
  readonly name: string;
  readonly country: string;
  readonly signed_up_on: string;
  /** 0 to 100. */
  readonly risk_score: number;
  readonly indicators: readonly Indicator[];
  readonly orders: number;
  readonly lifetime_spend: number;
  readonly wallet: string | null;
}

export function profileOf(database: DatabaseSync, userId: string): Profile {
  const user = database.prepare("SELECT * FROM dim_user WHERE user_id = ?").get(userId);
  if (!user) throw problem("NOT_FOUND", { name: `user ${userId}` });
  const wallet = user.wallet as string | null;
  const spend = database
    .prepare(
      "SELECT count(*) AS orders, coalesce(sum(amount), 0) AS total FROM fact_orders WHERE user_id = ?",
    )
    .get(userId);
  const { count } = transfersJustUnderLimit(database, userId);
  const sharing = usersOfSameDevice(database, userId).length;
  const indicators = [
    { sign: `${count} transfers just under €${REPORTING_LIMIT}`, points: Math.min(60, count * 4) },
    { sign: `device shared with ${sharing} other customer(s)`, points: sharing > 0 ? 15 : 0 },
    { sign: "has a crypto wallet", points: wallet ? 10 : 0 },
  ].filter(({ points }) => points > 0);
  return {
    user_id: userId,
    name: String(user.name),
    country: String(user.country),
    signed_up_on: String(user.signed_up_on),
    risk_score: indicators.reduce((sum, { points }) => sum + points, 0),
    indicators,
    orders: Number(spend?.orders),
    lifetime_spend: Number(spend?.total),
    wallet,
  };
}

/** Transfers within a tenth below the reporting limit. */
export function transfersJustUnderLimit(
  database: DatabaseSync,
  userId: string,
): { count: number; total: number } {
  const row = database
    .prepare(
      `SELECT count(*) AS count, coalesce(sum(amount), 0) AS total
       FROM fact_transfers WHERE user_id = ? AND amount >= ? AND amount < ?`,
    )
    .get(userId, REPORTING_LIMIT * 0.9, REPORTING_LIMIT);
  return { count: Number(row?.count), total: Number(row?.total) };
}

export function usersOfSameDevice(database: DatabaseSync, userId: string): string[] {
  const sql = `SELECT other.user_id FROM dim_user AS own JOIN dim_user AS other USING (device_id)
    WHERE own.user_id = ? AND other.user_id <> own.user_id ORDER BY other.user_id`;
  return database
    .prepare(sql)
    .all(userId)
    .map((row) => String(row.user_id));
}

export interface Review {
  readonly user_id: string;
  readonly pattern: "structuring" | "none";
  readonly limit: number;
  readonly just_under_limit: number;
  readonly total: number;
  readonly same_device: readonly string[];
}

export function reviewOf(database: DatabaseSync, userId: string): Review {
  profileOf(database, userId);
  const { count, total } = transfersJustUnderLimit(database, userId);
  return {
    user_id: userId,
    pattern: count >= MANY ? "structuring" : "none",
    limit: REPORTING_LIMIT,
    just_under_limit: count,
    total,
    same_device: usersOfSameDevice(database, userId),
  };
}
