import { randomUUID } from "node:crypto";
import { z } from "zod";
import { lazy } from "../../base/util/lazy.ts";
import { FOREVER_MS, type OpenStorage, type Storage, UNBOUNDED } from "../../base/util/storage.ts";

/** Events of one write, the key of the current list, or the end of a replaced list. */
type Stored = readonly LearningEvent[] | string;

export const KEPT_EVENTS = 10_000;
const KIND = "learning";
const OWNER = "";
/** Key of the value that names the current list. */
const CURRENT = "current";
const CLOSED = "closed";
/** How often to write own events and read those of other processes. */
const EXCHANGE_MS = 1_000;
const MOST_PENDING = 1_000;
const TRIES = 100;

/**
 * Stores the newest learning events, in memory and in a storage that several processes may share. All processes append
 * to one list, each after reading the others' events. A list that is too long, or has events to forget, is closed and
 * replaced. Failures are silent: learning must never break a call.
 */
export class LearningLog {
  /** All stored events, oldest first. Includes those of earlier processes after {@link load}. */
  events: LearningEvent[] = [];
  /** Reads the stored events. Never rejects. */
  readonly load: () => Promise<void>;
  private readonly storage: Storage<Stored> | undefined;
  private pending: LearningEvent[] = [];
  private list = "";
  /** Number of batches of the list read or written, and of the events in them. */
  private position = 0;
  private count = 0;
  private hear: ((events?: readonly LearningEvent[]) => void) | undefined;
  private working: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(open?: OpenStorage) {
    const options = { all: UNBOUNDED, perOwner: UNBOUNDED, ttlMs: FOREVER_MS, fromText: parseStored };
    this.storage = open?.<Stored>(KIND, options);
    this.load = lazy(async () => {
      if (this.storage) this.timer = setInterval(() => void this.exchange(), EXCHANGE_MS).unref();
      await this.exchange();
    });
  }

  /** Calls the listener with new events of other processes, or without any if `events` must be read again. */
  follow(hear: (events?: readonly LearningEvent[]) => void): void {
    this.hear = hear;
  }

  append(event: LearningEvent): void {
    this.keep([event]);
    if (!this.storage) return;
    this.pending.push(event);
    if (this.pending.length > MOST_PENDING) this.pending = this.pending.slice(-MOST_PENDING);
    void this.load();
  }

  /** Deletes events. Resolves to their number. */
  async forget(what: Forgotten): Promise<number> {
    await this.exchange();
    const isKept = (event: LearningEvent) => !isForgotten(event, what);
    const before = this.events.length;
    this.pending = this.pending.filter(isKept);
    await this.alone((storage) => this.replace(storage, (events) => events.filter(isKept)));
    this.events = this.events.filter(isKept);
    return before - this.events.length;
  }

  /** Writes pending events. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    if (this.pending.length > 0) await this.exchange();
    await this.working;
  }

  private keep(news: readonly LearningEvent[]): void {
    this.events.push(...news);
    if (this.events.length > 2 * KEPT_EVENTS) this.events = this.events.slice(-KEPT_EVENTS);
  }

  /** Runs work on the storage one after the other. */
  private alone(work: (storage: Storage<Stored>) => Promise<void>): Promise<unknown> {
    const { storage } = this;
    if (storage) this.working = this.working.then(() => work(storage)).catch(() => {});
    return this.working;
  }

  private exchange(): Promise<unknown> {
    return this.alone(async (storage) => {
      await this.readNew(storage);
      for (let tries = 0; this.pending.length > 0 && tries < TRIES; tries += 1) {
        // Removed from `pending` before the write: a write that seems to fail must not be repeated.
        const batch = this.pending;
        this.pending = [];
        if (await storage.append(this.list, OWNER, this.position, batch)) this.advance([batch]);
        else {
          this.pending = [...batch, ...this.pending];
          await this.readNew(storage);
        }
      }
      if (this.count > 2 * KEPT_EVENTS) await this.replace(storage, (events) => events.slice(-KEPT_EVENTS));
    });
  }

  private advance(batches: readonly Stored[]): readonly LearningEvent[] {
    const events = batches.flatMap((batch) => (typeof batch === "string" ? [] : batch));
    this.position += batches.length;
    this.count += events.length;
    return events;
  }

  private async readNew(storage: Storage<Stored>): Promise<void> {
    const current = await this.currentList(storage);
    const isOther = current !== this.list;
    if (isOther) this.begin(current);
    const batches = await storage.list(this.list, OWNER, this.position);
    const news = this.advance(batches);
    if (isOther) this.events = [...news.slice(-KEPT_EVENTS), ...this.pending];
    else this.keep(news);
    if (isOther) this.hear?.();
    else if (news.length > 0) this.hear?.(news);
    // The process that closed or removed the list may have ended before it named a new one.
    if (batches.at(-1) === CLOSED || (isOther && batches.length === 0))
      await this.moveTo(storage, this.written());
  }

  private begin(list: string): void {
    this.list = list;
    this.position = 0;
    this.count = 0;
  }

  private async currentList(storage: Storage<Stored>): Promise<string> {
    const currentKey = await storage.get(CURRENT, OWNER);
    if (currentKey !== undefined) return String(currentKey);
    const list = randomUUID();
    await storage.put(list, OWNER, []);
    await storage.put(CURRENT, OWNER, list);
    return String(await storage.get(CURRENT, OWNER));
  }

  /** The events in the storage. */
  private written(): readonly LearningEvent[] {
    const pending = new Set(this.pending);
    return this.events.filter((event) => !pending.has(event));
  }

  private async replace(
    storage: Storage<Stored>,
    change: (events: readonly LearningEvent[]) => readonly LearningEvent[],
  ): Promise<void> {
    // Closed before the copy: events added later would be missing in it.
    for (let tries = 0; tries < TRIES; tries += 1) {
      const isClosed = await storage.append(this.list, OWNER, this.position, CLOSED);
      if (isClosed && (await this.moveTo(storage, change(this.written())))) return;
      await this.readNew(storage);
    }
  }

  /** False if another process has replaced the list. */
  private async moveTo(storage: Storage<Stored>, events: readonly LearningEvent[]): Promise<boolean> {
    const [before, list] = [this.list, randomUUID()];
    await storage.put(list, OWNER, events);
    const current = await storage.update(CURRENT, OWNER, (now) => (now === before ? list : now));
    const isMoved = current === list;
    await storage.update(isMoved ? before : list, OWNER, () => undefined);
    if (!isMoved) return false;
    this.begin(list);
    this.advance([events]);
    return true;
  }
}

/** Damaged text counts as no events. */
function parseStored(text: string): Stored {
  try {
    const stored: unknown = JSON.parse(text);
    if (typeof stored === "string") return stored;
    return Array.isArray(stored)
      ? stored.flatMap((event) => learningEventSchema().safeParse(event).data ?? [])
      : [];
  } catch {
    return [];
  }
}

/**
 * A learning event: a query with the entries shown for it, an entry that ran successfully (`used`), or one whose call
 * failed or was undone (`failed`).
 */
const learningEventSchema = lazy(() => {
  const shared = {
    at: z.number(),
    scope: z.string(),
    conversation: z.string(),
    principal: z.string().optional(),
  };
  return z.discriminatedUnion("kind", [
    z.object({
      ...shared,
      kind: z.literal("asked"),
      query: z.string(),
      /** Equal for all queries of one ask. */
      ask: z.string().optional(),
      shown: z.array(z.string()),
      /** Search's own result before learning changed it, best first, each with its share of the best score. */
      found: z.array(z.tuple([z.string(), z.number()])).optional(),
    }),
    z.object({ ...shared, kind: z.literal("used"), route: z.string() }),
    z.object({ ...shared, kind: z.literal("failed"), route: z.string() }),
  ]);
});

/** One stored event of use. */
export type LearningEvent = z.output<ReturnType<typeof learningEventSchema>>;

/** Which events to delete: all of a scope, all about an entry, or both. */
export interface Forgotten {
  readonly scope?: string;
  readonly route?: string;
}

function isForgotten(event: LearningEvent, { scope, route }: Forgotten): boolean {
  if (scope !== undefined && event.scope !== scope) return false;
  return (
    route === undefined || (event.kind === "asked" ? event.shown.includes(route) : event.route === route)
  );
}

/** A query and the entry used for it. */
interface UsedQuery {
  readonly query: string;
  readonly route: string;
}

/** The queries that led to a call of an entry shown for them, each with its entry once. */
export function usedQueries(events: readonly LearningEvent[]): UsedQuery[] {
  const last = new Map<string, (LearningEvent & { kind: "asked" })[]>();
  const used = new Map<string, UsedQuery>();
  for (const event of events) {
    const { conversation } = event;
    const open = last.get(conversation) ?? [];
    if (event.kind === "asked") {
      const siblings = open.filter(({ ask }) => ask !== undefined && ask === event.ask);
      last.set(conversation, [...siblings, event]);
    }
    if (event.kind !== "used") continue;
    // An ask may have several needs: choose the one that the entry fits best.
    const [best] = open
      .filter(({ shown }) => shown.includes(event.route))
      .sort((a, b) => shareOf(b, event.route) - shareOf(a, event.route));
    if (best) used.set(JSON.stringify([best.query, event.route]), { query: best.query, route: event.route });
  }
  return [...used.values()];
}

function shareOf({ found, shown }: LearningEvent & { kind: "asked" }, route: string): number {
  const share = found?.find(([id]) => id === route)?.[1];
  return share ?? 1 / (2 + shown.indexOf(route));
}
