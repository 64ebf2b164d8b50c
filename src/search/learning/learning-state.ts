import { LRUCache } from "lru-cache";
import { lazy } from "../../base/util/lazy.ts";
import { termsOf } from "../analysis/analyze-query.ts";
import { USE } from "../ranking/tuning.ts";
import type { ExampleChange, Learner } from "./example-store.ts";
import {
  createFollowUps,
  createLastUsed,
  createRepeats,
  type FollowUps,
  type RepeatedCalls,
} from "./follow-ups.ts";
import type { LearningEvent } from "./learning-log.ts";

/** A need that no shown entry has met. */
export interface UnmetQuery {
  readonly query: string;
  readonly times: number;
  /** Whether nothing was shown the last time. */
  readonly empty: boolean;
  /** Routes shown the last time, best first. */
  readonly shown: readonly string[];
  readonly lastAsked: number;
}

/** The conversation of a call, with its scope and principal. */
export type LearningScope = Required<Pick<LearningEvent, "scope" | "conversation" | "principal">>;

interface OpenQuery {
  readonly id: string;
  /** Equal for all queries of one ask. */
  readonly ask: string | undefined;
  readonly query: string;
  readonly shown: readonly string[];
  readonly found: ReadonlyMap<string, number>;
  /** Examples created from it, by route. */
  readonly credited: Map<string, string>;
  /** Examples of the previous ask, if it was for the same need, by route. */
  readonly doubted: ReadonlyMap<string, string>;
  readonly at: number;
  met: boolean;
}

/** A call belongs to a query of the same conversation within this time. */
const WINDOW_MS = 10 * 60_000;
const MAX_CONVERSATIONS = 10_000;
const MAX_UNMET = 1_000;
/** Stored hits of an unmet query. */
const MOST_SHOWN = 5;

interface LastUse {
  readonly scope: string;
  readonly route: string;
  readonly at: number;
}

/** State derived from events: replaying the same events gives the same state. Passes examples to `change` in order. */
export class LearningState {
  private readonly follows = createFollowUps();
  private readonly repeats = createRepeats();
  /** The queries of a conversation's last ask. */
  private readonly open = lazy(() => createLastUsed<readonly OpenQuery[]>(MAX_CONVERSATIONS));
  private readonly lastUsed = lazy(() => createLastUsed<LastUse>(MAX_CONVERSATIONS));
  private readonly unmetQueries = new LRUCache<string, UnmetQuery>({ max: MAX_UNMET });
  private number = 0;
  private readonly change: (change: ExampleChange) => void;

  readonly after: FollowUps["after"] = this.follows.after;
  readonly repeated: () => readonly RepeatedCalls[] = this.repeats.list;

  constructor(change: (change: ExampleChange) => void) {
    this.change = change;
  }

  apply(event: LearningEvent): void {
    if (event.kind === "asked") return void this.asked(event);
    this.ran(event);
    if (event.kind !== "used") return;
    this.follow(event);
    this.repeats.note(event);
  }

  /** Entries that the principal often runs after the conversation's last one, most frequent first. */
  expected({ scope, conversation, principal }: LearningScope, now: number): readonly string[] {
    const last = this.lastUsed().get(conversation);
    if (!last || last.scope !== scope || now - last.at > WINDOW_MS) return [];
    return this.follows.ofOwn(scope, last.route, principal);
  }

  /** Most frequent first. */
  unmet(now: number): readonly UnmetQuery[] {
    for (const [conversation, queries] of [...this.open()]) {
      if (queries.some((query) => now - query.at <= WINDOW_MS)) continue;
      for (const query of queries) this.close(query);
      this.open().delete(conversation);
    }
    return [...this.unmetQueries.values()].sort(
      (one, other) => other.times - one.times || other.lastAsked - one.lastAsked,
    );
  }

  private nextId(): string {
    return String(this.number++).padStart(12, "0");
  }

  private close(query: OpenQuery): void {
    if (query.met) return;
    const key = query.query.trim().toLowerCase();
    const times = (this.unmetQueries.get(key)?.times ?? 0) + 1;
    const shown = query.shown.slice(0, MOST_SHOWN);
    const empty = shown.length === 0;
    this.unmetQueries.set(key, { query: query.query, times, empty, shown, lastAsked: query.at });
  }

  private asked(event: LearningEvent & { kind: "asked" }): void {
    const { conversation, query, shown, at } = event;
    const before = this.open().get(conversation) ?? [];
    const siblings = before.filter((one) => one.ask !== undefined && one.ask === event.ask);
    const ended = siblings.length > 0 ? [] : before;
    for (const one of ended) this.close(one);
    const again = ended.filter((one) => at - one.at <= WINDOW_MS && this.isSameNeed(one.query, query));
    const doubted = new Map(again.flatMap((one) => [...one.credited]));
    const found = new Map(event.found ?? shown.map((route, place) => [route, 1 - place / shown.length]));
    const ids = { id: this.nextId(), ask: event.ask };
    const opened = { ...ids, query, shown, found, credited: new Map(), doubted, at, met: false };
    this.open().set(conversation, [...siblings, opened]);
  }

  private ran(event: LearningEvent & { kind: "used" | "failed" }): void {
    const { kind, conversation, scope, principal = conversation, route, at } = event;
    const queries = (this.open().get(conversation) ?? []).filter((query) => at - query.at <= WINDOW_MS);
    const weight = kind === "used" ? 1 : -1;
    for (const query of forRoute(queries, route)) this.credit(query, { scope, principal }, route, at, weight);
  }

  private credit(query: OpenQuery, learner: Learner, route: string, at: number, weight: number): void {
    if (weight > 0) query.met ||= query.shown.includes(route);
    const exampleId = query.credited.get(route);
    if (exampleId !== undefined) return void this.change({ kind: "weigh", learner, id: exampleId, weight });
    // The same need again, followed by another entry, suggests that the first entry did not meet it.
    if (weight > 0) {
      for (const [other, id] of query.doubted) {
        if (other !== route) this.change({ kind: "weigh", learner, id, weight: USE.doubted });
      }
    }
    const id = this.nextId();
    query.credited.set(route, id);
    const shortfall = 1 - (query.found.get(route) ?? 0);
    const shown = query.shown.includes(route);
    const example = { id, route, at, weight, ask: query.id, shown, shortfall };
    this.change({ kind: "add", learner, query: query.query, found: query.found, ...example });
  }

  private isSameNeed(one: string, other: string): boolean {
    const terms = new Set(termsOf(one));
    const others = new Set(termsOf(other));
    const common = terms.intersection(others).size;
    return common > 0 && common >= USE.sameNeed * terms.union(others).size;
  }

  private follow(event: LearningEvent & { kind: "used" }): void {
    const { conversation, scope, route, at, principal = conversation } = event;
    const previous = this.lastUsed().get(conversation);
    const isNext = previous?.scope === scope && previous.route !== route && at - previous.at <= WINDOW_MS;
    if (isNext) this.follows.note({ scope, principal, route: previous.route, next: route });
    this.lastUsed().set(conversation, { scope, route, at });
  }
}

/** The query of an ask for which search ranked the entry highest; all of them if none found it. */
function forRoute(queries: readonly OpenQuery[], route: string): readonly OpenQuery[] {
  const finding = queries.filter((query) => query.found.has(route));
  if (finding.length === 0) return queries;
  return [finding.reduce((best, query) => (query.found.get(route)! > best.found.get(route)! ? query : best))];
}
