import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Forgotten, isForgotten, type LearningEvent, parseEvent } from "./learning-event.ts";

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

/** Opens a log in a file, one JSON a line, or in memory. Skips lines that it cannot read. */
export function openLearningLog(path: string | undefined): LearningLog {
  const lines = path === undefined ? [] : readLines(path);
  let events = lines.map(parseEvent).filter((event) => event !== undefined);
  events = events.slice(-KEPT_EVENTS);
  if (events.length < lines.length) rewrite(path, toLines(events));

  let pending: LearningEvent[] = [];
  let written = events.length;
  let isCut = false;
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
  if (path !== undefined) attempt(() => mkdirSync(dirname(path), { recursive: true }));
  return {
    get events() {
      return events;
    },
    close: async () => flush(),
    append: (event) => {
      events.push(event);
      if (events.length > 2 * KEPT_EVENTS) events = events.slice(-KEPT_EVENTS);
      pending.push(event);
      if (pending.length >= FLUSH_AT) flush();
    },
    forget: async (what) => {
      const before = events.length;
      events = events.filter((event) => !isForgotten(event, what));
      pending = [];
      rewrite(path, toLines(events));
      written = events.length;
      return before - events.length;
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
