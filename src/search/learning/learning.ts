import { LRUCache } from "lru-cache";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { replaceSecrets } from "../../base/safety/secret-patterns.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { lazy } from "../../base/util/lazy.ts";
import type { OpenStorage } from "../../base/util/storage.ts";
import type { SearchHit } from "../port/search-index.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { createStaticEmbedder } from "../vectors/static-embedder.ts";
import { createExampleStore, type Learner } from "./example-store.ts";
import { type Forgotten, type LearningEvent, LearningLog } from "./learning-log.ts";
import { type LearningScope, LearningState } from "./learning-state.ts";
import { liftExpected } from "./lift-hits.ts";

/** Options for learning from use. */
export interface LearningOptions {
  /** Storage for the events, which other gateways may share. Default: memory. */
  readonly log?: OpenStorage;
  /**
   * Whether principals with the same scopes learn from each other: an entry that three others used for a similar query
   * moves up, but stays below everything that search finds well. Default: each principal learns only from itself.
   */
  readonly shared?: boolean;
  readonly now?: () => number;
  /** Compares queries by meaning. Default: the table in the package. */
  readonly embedder?: Embedder;
}

type NotedAsk<E> = E extends LearningEvent ? Omit<E, "at"> : never;

/** Learns from use which entries meet which needs, and which follow which. */
export interface Learning {
  /** Entries that often ran after this one, most frequent first. */
  after(...use: Parameters<LearningState["after"]>): Promise<readonly string[]>;
  /** Records an event. Queries of one ask share the same `shown` array. */
  note(event: NotedAsk<LearningEvent>): void;
  /** Reorders search's hits for a query by past use, and by what often comes next. */
  lift(caller: LearningScope, query: string, hits: readonly SearchHit[]): Promise<readonly SearchHit[]>;
  /**
   * Routes that a principal used in most conversations before they were first asked for, most often first. They stay the
   * same from then on, whatever is used: menus are made from it.
   */
  habits(learner: Learner): Promise<readonly string[]>;
  unmet(): Promise<ReturnType<LearningState["unmet"]>>;
  repeated(): Promise<ReturnType<LearningState["repeated"]>>;
  /** Deletes events, in memory and in the log, with everything learned from them. Resolves to their number. */
  forget(what: Forgotten): Promise<number>;
  close(): Promise<void>;
}

/** Asks whose search order is kept until their event arrives. */
const MAX_ORDERS = 1_000;
const FOUND_DEPTH = 10;
/** A secret says nothing about the need, so it is removed without a placeholder. */
const SECRET = "";

/** Replays the log on first use. */
export function createLearning({
  log: open,
  shared = false,
  now = Date.now,
  embedder = createStaticEmbedder(),
}: LearningOptions = {}): Learning {
  const log = new LearningLog(open);
  const orders = new LRUCache<string, [string, number][]>({ max: MAX_ORDERS });
  const asks = new WeakMap<readonly string[], string>();
  let number = 0;
  let replayed: ReturnType<typeof replay> | undefined;
  /** Events of calls that are being answered. Every reader processes them first. */
  const noted: LearningEvent[] = [];
  function learned() {
    replayed ??= replay(log.events);
    for (const event of noted.splice(0)) {
      replayed.state.apply(event);
      log.append(event);
    }
    return replayed;
  }

  function replay(events: readonly LearningEvent[]) {
    const examples = createExampleStore(embedder);
    const state = new LearningState(examples.change);
    for (const event of events) state.apply(event);
    return { state, examples };
  }

  log.follow((events) => {
    if (events) for (const event of events) replayed?.state.apply(event);
    else replayed = undefined;
  });

  /** Queries of one ask have the same array. */
  function askOf(shown: readonly string[]): string {
    const ask = asks.get(shown) ?? `${now()}-${number++}`;
    asks.set(shown, ask);
    return ask;
  }

  function completed(event: NotedAsk<LearningEvent>): LearningEvent {
    if (event.kind !== "asked") return { ...event, at: now() };
    const query = withoutSecrets(event.query);
    const found = event.found ?? orders.get(keyOf(event.scope, query));
    return { ...event, query, ask: askOf(event.shown), at: now(), ...(found && { found }) };
  }

  /** Everything learned, including by earlier processes. */
  async function wholeState(): Promise<LearningState> {
    await log.load();
    return learned().state;
  }

  const habits = lazy(async () => {
    await log.load();
    return readHabits(log.events);
  });

  /** Processes the events of answered calls. */
  function settle(): void {
    if (noted.length > 0) learned();
  }

  return {
    after: async (...use) => (await wholeState()).after(...use),
    habits: async ({ scope, principal }) => (await habits()).get(keyOf(scope, principal)) ?? NO_HABITS,
    unmet: async () => (await wholeState()).unmet(now()),
    repeated: async () => (await wholeState()).repeated(),
    note: (event) => {
      if (noted.push(completed(event)) === 1) setImmediate(settle);
    },
    lift: async (caller, query, hits) => {
      const { scope, principal } = caller;
      const asked = withoutSecrets(query);
      orders.set(keyOf(scope, asked), toOrder(hits));
      await log.load();
      const { state, examples } = learned();
      const lifted = await examples.lift({ scope, principal, shared }, asked, hits, now());
      return liftExpected(lifted, state.expected(caller, now()));
    },
    forget: async (what) => {
      settle();
      const gone = await log.forget(what);
      replayed = undefined;
      return gone;
    },
    close: () => {
      settle();
      return log.close();
    },
  };
}

const NO_HABITS: readonly string[] = [];
const MOST_HABITS = 100;

/** The entries that each principal used, by scope, those of most conversations first. */
function readHabits(events: readonly LearningEvent[]): ReadonlyMap<string, readonly string[]> {
  const used = events.filter((event) => event.kind === "used");
  const byLearner = Map.groupBy(used, ({ scope, principal = "" }) => keyOf(scope, principal));
  return new Map(
    [...byLearner].map(([learner, uses]) => {
      const conversations = [...Map.groupBy(uses, ({ route }) => route)].map(
        ([route, ofRoute]) => [route, new Set(ofRoute.map(({ conversation }) => conversation)).size] as const,
      );
      const sorted = conversations.sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
      return [learner, sorted.slice(0, MOST_HABITS).map(([route]) => route)];
    }),
  );
}

function withoutSecrets(query: string): string {
  return cutText(replaceSecrets(hideSecrets(query), SECRET), MAX_QUERY);
}

/** Longer queries are stored and compared by their beginning. */
const MAX_QUERY = 200;

function toOrder(hits: readonly SearchHit[]): [string, number][] {
  const best = hits[0]?.score || 1;
  return hits.slice(0, FOUND_DEPTH).map(({ id, score }) => [id, Math.round((100 * score) / best) / 100]);
}

function keyOf(scope: string, query: string): string {
  return `${scope}\n${query}`;
}
