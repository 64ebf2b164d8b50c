import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { problem } from "../schema/problem.ts";
import { toStoredText } from "../search/port/stored-text.ts";
import {
  answerNotKept,
  type Idempotency,
  KEEP_HOURS,
  type KeyedCall,
  otherCall,
} from "../session/idempotency.ts";
import type { Sight } from "../session/needs.ts";
import { keeperOf } from "../session/result-keeper.ts";
import type { ResultStore } from "../session/result-store.ts";
import { contentHash } from "../util/content-hash.ts";
import type { Bounds } from "../util/fair-cache.ts";
import type { Json } from "../util/json.ts";
import { createRedact } from "../util/redact.ts";
import type { Database } from "./database.ts";
import type { Membership } from "./gateways.ts";
import {
  fromFailure,
  fromOutcomeText,
  type StoredOutcome,
  toFailure,
  toOutcomeText,
} from "./outcome-codec.ts";

export interface PostgresIdempotencyOptions {
  readonly secrets?: readonly string[];
  readonly all?: Bounds;
  readonly perPrincipal?: Bounds;
}

interface Answer {
  readonly value: Json;
}

const MIB = 1024 * 1024;
const ALL: Bounds = { entries: 500_000, size: 1_024 * MIB };
const PER_PRINCIPAL: Bounds = { entries: 10_000, size: 32 * MIB };
/** One principal takes at most this part of what is then free, so that a few cannot take all the room. */
const LEFT_FREE = 4;
/** Bytes of a key without its outcome. */
const KEY_BYTES = 1_024;
const MAX_ANSWER_BYTES = 16 * 1_024;
const COUNT_MS = 5_000;
/** A call that runs for longer elsewhere is waited for again by the next call with its key. */
const WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const SETTLE_TRIES = 8;

/**
 * Runs calls once over all gateways that share the database. A call runs only after its key was inserted, and a key
 * is never taken from another gateway: if that one has ended, the outcome is unknown for as long as the key is kept.
 */
export function createPostgresIdempotency(
  { tables: { keys }, query }: Database,
  gateway: Membership,
  results: ResultStore,
  { secrets = [], all = ALL, perPrincipal = PER_PRINCIPAL }: PostgresIdempotencyOptions = {},
): Idempotency {
  const redact = createRedact(secrets, { kinds: true });
  /** Calls that run in this process. */
  const running = new Map<string, { readonly hash: string; readonly answer: Promise<Answer> }>();
  let total = { entries: 0, size: 0 };
  let countedAt = Number.NEGATIVE_INFINITY;

  /** Counting all keys takes long, so it is done now and then. */
  async function countAll(): Promise<void> {
    if (performance.now() - countedAt < COUNT_MS) return;
    countedAt = performance.now();
    await query(`delete from ${keys} where expires_at <= now()`);
    const [row] = await query(
      `select count(*)::int as entries, coalesce(sum(bytes), 0)::text as size from ${keys}`,
    );
    total = { entries: Number(row?.entries), size: Number(row?.size) };
  }

  /** Takes a key that nobody has, if there is room for it. */
  async function take(id: string, { view, hash }: KeyedCall, claim: string): Promise<boolean> {
    await countAll();
    const rows = await query(
      `insert into ${keys} as known
         select $1, $2, $3, $4, $5, ${KEY_BYTES}, null, now() + interval '${KEEP_HOURS} hours'
         where (
           select count(*) < $6 and coalesce(sum(bytes), 0) + ${KEY_BYTES} <= $7 from ${keys}
           where principal = $2 and expires_at > now()
         )
       on conflict (id) do update
         set hash = excluded.hash, gateway = excluded.gateway, claim = excluded.claim, bytes = excluded.bytes,
           outcome = null, expires_at = excluded.expires_at
         where known.expires_at <= now()
       returning 1`,
      [
        id,
        toStoredText(view.principal.id),
        hash,
        gateway.id,
        claim,
        Math.floor(Math.min(perPrincipal.entries, (all.entries - total.entries) / LEFT_FREE)),
        Math.floor(Math.min(perPrincipal.size, (all.size - total.size) / LEFT_FREE)),
      ],
    );
    return rows.length > 0;
  }

  async function find(id: string) {
    const [row] = await query(
      `select hash, gateway, outcome, ${gateway.isAlive("k.gateway")} as alive from ${keys} k
       where id = $1 and expires_at > now()`,
      [id],
    );
    return row;
  }

  /** Waits for the outcome of a call that another gateway runs, or has run. */
  async function follow(id: string, { view, name, hash }: KeyedCall): Promise<Answer | undefined> {
    const until = performance.now() + WAIT_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const row = await find(id);
      if (!row) return undefined;
      if (row.hash !== hash) throw otherCall();
      if (typeof row.outcome === "string") return toAnswer(fromOutcomeText(row.outcome), view);
      // A key of this process whose call does not run here was taken by a statement that seemed to fail.
      if (!row.alive || row.gateway === gateway.id) throw problem("OUTCOME_UNKNOWN", { name });
      if (performance.now() > until) {
        throw problem("CONFLICT", {
          reason:
            "The call with this idempotency key still runs. Call again with the same key for its answer.",
        });
      }
      await setTimeout(pause);
    }
  }

  async function toAnswer(outcome: StoredOutcome, view: Sight): Promise<Answer> {
    if (outcome.kind === "answer") return outcome.answer as unknown as Answer;
    if (outcome.kind === "not-kept") throw answerNotKept();
    if (outcome.kind !== "large") throw fromFailure(outcome);
    const value = await keeperOf(results)
      .read(outcome.handle, view)
      .catch(() => undefined);
    if (value === undefined) throw answerNotKept();
    return { ...outcome.rest, value };
  }

  async function toOutcome({ value, ...rest }: Answer, { view, entry }: KeyedCall): Promise<StoredOutcome> {
    const whole: StoredOutcome = { kind: "answer", answer: redact({ ...rest, value }) };
    if (Buffer.byteLength(toOutcomeText(whole)) <= MAX_ANSWER_BYTES) return whole;
    const { handle, stored } = keeperOf(results).keep(value, view.principal, entry);
    await stored;
    return { kind: "large", rest: redact(rest), handle };
  }

  /** Keeps the outcome, or only the fact that the call ran if it is too large. Tries again, also while others wait. */
  async function settle(id: string, claim: string, make: () => StoredOutcome | Promise<StoredOutcome>) {
    const made = await Promise.resolve()
      .then(make)
      .then(toOutcomeText)
      .catch(() => "");
    const isSmall = made !== "" && Buffer.byteLength(made) <= MAX_ANSWER_BYTES;
    const text = isSmall ? made : toOutcomeText({ kind: "not-kept" });
    await persist(
      `update ${keys} set outcome = $3::text, bytes = ${KEY_BYTES} + octet_length($3::text) where id = $1 and claim = $2`,
      [id, claim, text],
    );
  }

  function release(id: string, claim: string): Promise<void> {
    return persist(`delete from ${keys} where id = $1 and claim = $2 and outcome is null`, [id, claim]);
  }

  /** Tries once at once and then in the background: the caller has its answer, whether it can be kept or not. */
  async function persist(sql: string, params: unknown[], tries = SETTLE_TRIES): Promise<void> {
    try {
      await query(sql, params);
    } catch {
      if (tries === 1) return;
      void setTimeout(LONGEST_PAUSE_MS * 2 ** (SETTLE_TRIES - tries), undefined, { ref: false }).then(() =>
        persist(sql, params, tries - 1),
      );
    }
  }

  async function runClaimed<T extends Answer>(
    id: string,
    call: KeyedCall,
    claim: string,
    run: () => Promise<T>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T> {
    try {
      const answer = await run();
      await settle(id, claim, () => toOutcome(answer, call));
      return answer;
    } catch (error) {
      if (neverRan(error)) await release(id, claim);
      else await settle(id, claim, () => toFailure(error));
      throw error;
    }
  }

  async function claimAndRun<T extends Answer>(
    id: string,
    call: KeyedCall,
    run: () => Promise<T>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T> {
    const claim = randomUUID();
    const isTaken = await take(id, call, claim).catch(async (error: unknown) => {
      // The key may have been inserted without our hearing of it.
      await release(id, claim);
      throw error;
    });
    if (isTaken) return runClaimed(id, call, claim, run, neverRan);
    const known = await follow(id, call);
    if (known) return known as T;
    // Released or expired meanwhile, or never there because there is no room.
    if (await take(id, call, claim)) return runClaimed(id, call, claim, run, neverRan);
    throw problem("KEYS_EXHAUSTED", { name: call.name, hours: KEEP_HOURS });
  }

  return {
    once: async (call, run, neverRan) => {
      const id = contentHash({ principalId: call.view.principal.id, key: call.key });
      const here = running.get(id);
      if (here && here.hash !== call.hash) throw otherCall();
      if (here) return here.answer as ReturnType<typeof run>;
      const answer = claimAndRun(id, call, run, neverRan);
      running.set(id, { hash: call.hash, answer });
      try {
        return await answer;
      } finally {
        running.delete(id);
      }
    },
  };
}
