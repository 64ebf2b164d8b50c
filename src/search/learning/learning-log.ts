import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { lazy } from "../../base/util/lazy.ts";
import { makeFolder } from "../../base/util/make-folder.ts";

export const KEPT_EVENTS = 10_000;

/** Keeps the newest events that teach. Failures are silent: learning must never break a call. */
export interface LearningLog {
  /** All kept events, oldest first. */
  readonly events: readonly LearningEvent[];
  append(event: LearningEvent): void;
  /** Drops events. Resolves to their number. */
  forget(what: Forgotten): Promise<number>;
  /** Calls back with new events of other gateways, or without any if `events` has to be read again. */
  follow?(hear: (events?: readonly LearningEvent[]) => void): void;
  /** Writes pending events. */
  close(): Promise<void>;
}

const FLUSH_AT = 64;
/** Queries say what a person works on. */
const OWNER_ONLY = 0o600;

/**
 * Opens a log in a file, one JSON a line, or in memory. It reads the file at the first use, so that no start waits for
 * it, and skips lines that it cannot read.
 */
export function openLearningLog(path: string | undefined): LearningLog {
  let loaded: LearningEvent[] | undefined;
  let pending: LearningEvent[] = [];
  let written = 0;
  let isCut = false;

  function load(): LearningEvent[] {
    if (loaded) return loaded;
    const lines = path === undefined ? [] : readLines(path);
    const readable = lines.map(parseEvent).filter((event) => event !== undefined);
    loaded = readable.slice(-KEPT_EVENTS);
    written = loaded.length;
    if (loaded.length < lines.length) rewrite(path, toLines(loaded));
    if (path !== undefined) attempt(() => makeFolder(dirname(path)));
    return loaded;
  }

  function flush(): void {
    const unwritten = pending;
    pending = [];
    if (unwritten.length === 0 || path === undefined) return;
    const text = toLines(unwritten);
    // A write that failed may have left half a line.
    const start = isCut ? "\n" : "";
    isCut = true;
    attempt(() => {
      appendFileSync(path, `${start}${text}`, { mode: OWNER_ONLY });
      isCut = false;
      written += unwritten.length;
    });
    if (written > 2 * KEPT_EVENTS) shorten(path);
  }

  /** Drops the oldest lines, so that a gateway that runs for long does not fill the disk. Others may write too. */
  function shorten(path: string): void {
    const kept = readLines(path).slice(-KEPT_EVENTS);
    rewrite(path, kept.map((line) => `${line}\n`).join(""));
    written = kept.length;
  }

  return {
    get events() {
      return load();
    },
    close: async () => flush(),
    append: (event) => {
      const events = load();
      events.push(event);
      if (events.length > 2 * KEPT_EVENTS) loaded = events.slice(-KEPT_EVENTS);
      pending.push(event);
      if (pending.length >= FLUSH_AT) flush();
    },
    forget: async (what) => {
      const events = load();
      loaded = events.filter((event) => !isForgotten(event, what));
      pending = [];
      rewrite(path, toLines(loaded));
      written = loaded.length;
      return events.length - loaded.length;
    },
  };
}

function readLines(path: string): string[] {
  const text = attempt(() => readFileSync(path, "utf8")) ?? "";
  return text.split("\n").filter((line) => line !== "");
}

function rewrite(path: string | undefined, text: string): void {
  if (path === undefined) return;
  const draft = `${path}.tmp`;
  attempt(() => {
    writeFileSync(draft, text, { mode: OWNER_ONLY });
    renameSync(draft, path);
  });
}

function toLines(events: readonly LearningEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/**
 * An event that teaches: a query with the entries shown for it, an entry that ran well (`used`), or one whose
 * call failed or was undone (`failed`).
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
      /** The same for all queries of one ask. */
      ask: z.string().optional(),
      shown: z.array(z.string()),
      /** Search's own order before learning changed it, best first, each with its share of the best score. */
      found: z.array(z.tuple([z.string(), z.number()])).optional(),
    }),
    z.object({ ...shared, kind: z.literal("used"), route: z.string() }),
    z.object({ ...shared, kind: z.literal("failed"), route: z.string() }),
  ]);
});

/** One event of use that learning keeps. */
export type LearningEvent = z.output<ReturnType<typeof learningEventSchema>>;

/** Events to forget: all of a scope, all about an entry, or both. */
export interface Forgotten {
  readonly scope?: string;
  readonly route?: string;
}

export function isForgotten(event: LearningEvent, { scope, route }: Forgotten): boolean {
  if (scope !== undefined && event.scope !== scope) return false;
  return (
    route === undefined || (event.kind === "asked" ? event.shown.includes(route) : event.route === route)
  );
}

/** Undefined if unreadable. */
export function parseEvent(text: string): LearningEvent | undefined {
  try {
    return learningEventSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A query and the entry that was used for it. */
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
    // An ask may have several needs. The entry was used for the one that it fits best.
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
