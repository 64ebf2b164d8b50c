import {
  isForgotten,
  KEPT_EVENTS,
  type LearningEvent,
  type LearningLog,
  parseEvent,
} from "../../search/learning/learning-log.ts";
import type { Database } from "./database.ts";

/** How often own events are written and those of others read. */
const EXCHANGE_MS = 1_000;
const MOST_PENDING = 1_000;
const SWEEP_EVERY = 100;

interface StoredEvents {
  readonly id: string;
  readonly gateway: string;
  readonly event: LearningEvent;
}

/**
 * Keeps learning events in PostgreSQL. Their numbers are given in the order of the commits, so that a gateway which
 * reads on from the last number misses none.
 */
export async function createPostgresLearning(
  { tables: { learning, counters }, query }: Database,
  gateway: string,
): Promise<LearningLog> {
  let events: LearningEvent[] = [];
  let last = "0";
  let forgotten = "";
  let pending: LearningEvent[] = [];
  let hear: ((events?: readonly LearningEvent[]) => void) | undefined;
  let untilSweep = SWEEP_EVERY;

  async function select(after: string): Promise<StoredEvents[]> {
    const rows = await query(
      `select id::text, gateway, event from ${learning} l where l.id > $1 order by l.id desc limit ${KEPT_EVENTS}`,
      [after],
    );
    return rows.toReversed().flatMap(({ id, gateway: by, event }): StoredEvents[] => {
      const parsed = parseEvent(String(event));
      return parsed ? [{ id: String(id), gateway: String(by), event: parsed }] : [];
    });
  }

  async function counts(): Promise<{ last: string; forgotten: string }> {
    const rows = await query(
      `select name, value::text from ${counters} where name in ('learning', 'learning forgotten')`,
    );
    const values = new Map(rows.map(({ name, value }) => [name, String(value)]));
    return { last: values.get("learning") ?? "0", forgotten: values.get("learning forgotten") ?? "" };
  }

  async function readAll(): Promise<void> {
    const now = await counts();
    const stored = await select("0");
    events = stored.map(({ event }) => event);
    last = stored.at(-1)?.id ?? now.last;
    forgotten = now.forgotten;
  }

  async function write(): Promise<void> {
    if (pending.length === 0) return;
    const written = pending;
    pending = [];
    await query(
      `with numbered as (
         insert into ${counters} as c values ('learning', $1) on conflict (name) do update set value = c.value + $1
         returning value
       )
       insert into ${learning}
         select numbered.value - $1 + given.place, $2, given.event
         from numbered, unnest($3::text[]) with ordinality as given(event, place)`,
      [written.length, gateway, written.map((event) => JSON.stringify(event))],
    );
    untilSweep -= 1;
    if (untilSweep > 0) return;
    untilSweep = SWEEP_EVERY;
    await query(
      `delete from ${learning} where id <= (select value from ${counters} where name = 'learning') - ${KEPT_EVENTS}`,
    );
  }

  async function readNew(): Promise<void> {
    const now = await counts();
    if (now.forgotten !== forgotten) {
      await readAll();
      return hear?.();
    }
    if (now.last === last) return;
    const stored = await select(last);
    last = stored.at(-1)?.id ?? last;
    const news = stored.filter((one) => one.gateway !== gateway).map(({ event }) => event);
    keep(news);
    hear?.(news);
  }

  function keep(news: readonly LearningEvent[]): void {
    events.push(...news);
    if (events.length > 2 * KEPT_EVENTS) events = events.slice(-KEPT_EVENTS);
  }

  let exchanging: Promise<void> = Promise.resolve();
  function exchange(): Promise<void> {
    // Learning must never break a call. Events that could not be written are lost.
    exchanging = exchanging
      .then(write)
      .then(readNew)
      .catch(() => {});
    return exchanging;
  }

  await readAll();
  const timer = setInterval(() => void exchange(), EXCHANGE_MS).unref();
  return {
    get events() {
      return events;
    },
    append: (event) => {
      keep([event]);
      pending.push(event);
      if (pending.length > MOST_PENDING) pending = pending.slice(-MOST_PENDING);
    },
    follow: (listener) => {
      hear = listener;
    },
    forget: async (what) => {
      await exchange();
      const gone = (await select("0")).filter(({ event }) => isForgotten(event, what));
      await query(
        `with bumped as (
           insert into ${counters} as c values ('learning forgotten', 1)
           on conflict (name) do update set value = c.value + 1
         )
         delete from ${learning} where id = any($1::bigint[])`,
        [gone.map(({ id }) => id)],
      );
      await readAll();
      return gone.length;
    },
    close: async () => {
      clearInterval(timer);
      await exchange();
    },
  };
}
