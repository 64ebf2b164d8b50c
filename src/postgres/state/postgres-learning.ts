import {
  type Forgotten,
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
export class PostgresLearning implements LearningLog {
  events: LearningEvent[] = [];
  private readonly database: Database;
  private readonly gateway: string;
  private last = "0";
  private forgotten = "";
  private pending: LearningEvent[] = [];
  private hear: Parameters<NonNullable<LearningLog["follow"]>>[0] | undefined;
  private untilSweep = SWEEP_EVERY;
  private exchanging: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  private constructor(database: Database, gateway: string) {
    this.database = database;
    this.gateway = gateway;
  }

  static async open(database: Database, gateway: string): Promise<PostgresLearning> {
    const log = new PostgresLearning(database, gateway);
    await log.readAll();
    log.timer = setInterval(() => void log.exchange(), EXCHANGE_MS).unref();
    return log;
  }

  append(event: LearningEvent): void {
    this.keep([event]);
    this.pending.push(event);
    if (this.pending.length > MOST_PENDING) this.pending = this.pending.slice(-MOST_PENDING);
  }

  follow(listener: NonNullable<typeof this.hear>): void {
    this.hear = listener;
  }

  async forget(what: Forgotten): Promise<number> {
    const { counters, learning } = this.database.tables;
    await this.exchange();
    const gone = (await this.select("0")).filter(({ event }) => isForgotten(event, what));
    await this.database.query(
      `with bumped as (
           insert into ${counters} as c values ('learning forgotten', 1)
           on conflict (name) do update set value = c.value + 1
         )
         delete from ${learning} where id = any($1::bigint[])`,
      [gone.map(({ id }) => id)],
    );
    await this.readAll();
    return gone.length;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.exchange();
  }

  private async select(after: string): Promise<StoredEvents[]> {
    const { learning } = this.database.tables;
    const rows = await this.database.query(
      `select id::text, gateway, event from ${learning} l where l.id > $1 order by l.id desc limit ${KEPT_EVENTS}`,
      [after],
    );
    return rows.toReversed().flatMap(({ id, gateway: by, event }): StoredEvents[] => {
      const parsed = parseEvent(String(event));
      return parsed ? [{ id: String(id), gateway: String(by), event: parsed }] : [];
    });
  }

  private async counts(): Promise<{ last: string; forgotten: string }> {
    const { counters } = this.database.tables;
    const rows = await this.database.query(
      `select name, value::text from ${counters} where name in ('learning', 'learning forgotten')`,
    );
    const values = new Map(rows.map(({ name, value }) => [name, String(value)]));
    return { last: values.get("learning") ?? "0", forgotten: values.get("learning forgotten") ?? "" };
  }

  private async readAll(): Promise<void> {
    const now = await this.counts();
    const stored = await this.select("0");
    this.events = stored.map(({ event }) => event);
    this.last = stored.at(-1)?.id ?? now.last;
    this.forgotten = now.forgotten;
  }

  private async write(): Promise<void> {
    if (this.pending.length === 0) return;
    const { counters, learning } = this.database.tables;
    const written = this.pending;
    this.pending = [];
    await this.database.query(
      `with numbered as (
         insert into ${counters} as c values ('learning', $1) on conflict (name) do update set value = c.value + $1
         returning value
       )
       insert into ${learning}
         select numbered.value - $1 + given.place, $2, given.event
         from numbered, unnest($3::text[]) with ordinality as given(event, place)`,
      [written.length, this.gateway, written.map((event) => JSON.stringify(event))],
    );
    this.untilSweep -= 1;
    if (this.untilSweep > 0) return;
    this.untilSweep = SWEEP_EVERY;
    await this.database.query(
      `delete from ${learning} where id <= (select value from ${counters} where name = 'learning') - ${KEPT_EVENTS}`,
    );
  }

  private async readNew(): Promise<void> {
    const now = await this.counts();
    if (now.forgotten !== this.forgotten) {
      await this.readAll();
      return this.hear?.();
    }
    if (now.last === this.last) return;
    const stored = await this.select(this.last);
    this.last = stored.at(-1)?.id ?? this.last;
    const news = stored.filter((one) => one.gateway !== this.gateway).map(({ event }) => event);
    this.keep(news);
    this.hear?.(news);
  }

  private keep(news: readonly LearningEvent[]): void {
    this.events.push(...news);
    if (this.events.length > 2 * KEPT_EVENTS) this.events = this.events.slice(-KEPT_EVENTS);
  }

  private exchange(): Promise<void> {
    // Learning must never break a call. Events that could not be written are lost.
    this.exchanging = this.exchanging
      .then(() => this.write())
      .then(() => this.readNew())
      .catch(() => {});
    return this.exchanging;
  }
}
