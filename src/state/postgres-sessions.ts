import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { toStoredText } from "../search/port/stored-text.ts";
import { equalShare } from "../session/equal-share.ts";
import { fromStored, toStored } from "../session/memory-codec.ts";
import { mintHandle } from "../session/mint-handle.ts";
import {
  MAX_SESSIONS,
  mostOfOnePrincipal,
  SESSION_PREFIX,
  type SessionStore,
  type SessionStoreOptions,
} from "../session/session-store.ts";
import { EMPTY_MEMORY, type MemoryChange, type WorkingMemory } from "../session/working-memory.ts";
import type { Database } from "./database.ts";

const IDLE_MS = 7 * 24 * 60 * 60_000;
/** A sweep reads every session, so it does not run for every new one. */
const SWEEP_EVERY = 64;
/** Sessions are marked as used at most once in this part of their lifetime. */
const RENEWALS = 100;
const MOST_KNOWN = 1_024;
const TRIES = 100;
const PAUSE_MS = 20;

/** A memory, and how often it had been changed before. */
interface Known {
  readonly revision: string;
  readonly memory: WorkingMemory;
}

/** Keeps sessions in PostgreSQL. A change is written only over the revision that it was made from. */
export function createPostgresSessions(
  { tables: { sessions }, query }: Database,
  { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS }: SessionStoreOptions = {},
): SessionStore {
  const known = new LRUCache<string, Known>({ max: MOST_KNOWN });
  /** The last change of each session here: the next one waits for it instead of losing against it. */
  const changing = new Map<string, Promise<unknown>>();
  let untilSweep = 0;

  async function find(handle: string, principalId: string): Promise<Known> {
    const [row] = await query(
      `select memory, revision::text, used_at < now() - $4 * interval '1 millisecond' as renew from ${sessions}
       where handle = $1 and principal = $2 and used_at >= now() - $3 * interval '1 millisecond'`,
      [toStoredText(handle), toStoredText(principalId), idleMs, idleMs / RENEWALS],
    );
    const memory = row && fromStored(String(row.memory));
    if (!memory) throw problem("UNKNOWN_HANDLE", { handle });
    if (row.renew) await query(`update ${sessions} set used_at = now() where handle = $1`, [handle]);
    const found = { revision: String(row.revision), memory };
    known.set(keyOf(handle, principalId), found);
    return found;
  }

  async function change(handle: string, principalId: string, make: MemoryChange): Promise<WorkingMemory> {
    let before = known.get(keyOf(handle, principalId)) ?? (await find(handle, principalId));
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const memory = make(before.memory);
      const [row] = await query(
        `update ${sessions} set memory = $4, revision = revision + 1, used_at = now()
         where handle = $1 and principal = $2 and revision = $3
           and used_at >= now() - $5 * interval '1 millisecond'
         returning revision::text`,
        [toStoredText(handle), toStoredText(principalId), before.revision, toStored(memory), idleMs],
      );
      if (row) {
        known.set(keyOf(handle, principalId), { revision: String(row.revision), memory });
        return memory;
      }
      if (tries > 1) await setTimeout(Math.random() * PAUSE_MS);
      before = await find(handle, principalId);
    }
    throw problem("STATE_UNREACHABLE");
  }

  async function sweep(): Promise<void> {
    if (untilSweep > 0) {
      untilSweep -= 1;
      return;
    }
    untilSweep = Math.min(SWEEP_EVERY, maxSessions) - 1;
    await query(`delete from ${sessions} where used_at < now() - $1 * interval '1 millisecond'`, [idleMs]);
    const rows = await query(`select principal, count(*)::int as held from ${sessions} group by principal`);
    const share = equalShare(
      rows.map(({ held }) => Number(held)),
      Math.max(0, maxSessions - 1),
    );
    const most = Math.min(mostOfOnePrincipal(maxSessions) - 1, share);
    const over = rows.filter(({ held }) => Number(held) > most).map(({ principal }) => principal);
    if (over.length > 0)
      await forgetOldest("where principal = any($2)", "partition by principal", most, over);
    // Only for more principals than sessions that may be kept.
    if (rows.length >= maxSessions) await forgetOldest("", "", maxSessions - 1);
  }

  async function forgetOldest(
    where: string,
    partition: string,
    most: number,
    ...params: unknown[]
  ): Promise<void> {
    await query(
      `delete from ${sessions} where handle in (
         select handle from (
           select handle, row_number() over (${partition} order by used_at desc, handle) as place
           from ${sessions} ${where}
         ) ranked where place > $1
       )`,
      [most, ...params],
    );
  }

  return {
    open: async (principalId) => {
      await sweep();
      const handle = mintHandle(SESSION_PREFIX);
      await query(`insert into ${sessions} values ($1, $2, now(), 0, $3)`, [
        handle,
        toStoredText(principalId),
        toStored(EMPTY_MEMORY),
      ]);
      return handle;
    },
    read: async (handle, principalId) => (await find(handle, principalId)).memory,
    update: (handle, principalId, make) => {
      const key = keyOf(handle, principalId);
      const before = changing.get(key) ?? Promise.resolve();
      const changed = before.catch(() => {}).then(() => change(handle, principalId, make));
      changing.set(key, changed);
      const forget = () => {
        if (changing.get(key) === changed) changing.delete(key);
      };
      changed.then(forget, forget);
      return changed;
    },
    end: async (handle, principalId) => {
      await find(handle, principalId);
      known.delete(keyOf(handle, principalId));
      await query(`delete from ${sessions} where handle = $1`, [handle]);
    },
    close: () => {},
  };
}

function keyOf(handle: string, principalId: string): string {
  return `${handle}\n${principalId}`;
}
