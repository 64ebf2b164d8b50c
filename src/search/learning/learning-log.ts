import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type LearningEvent, learningEventSchema } from "./learning-event.ts";

const KEPT_EVENTS = 10_000;

/** The newest events, kept in a file where there is one: one JSON a line. */
export interface LearningLog {
  readonly events: readonly LearningEvent[];
  append(event: LearningEvent): void;
  /** Drops the events that fail the test, in memory and in the file. Gives their number. */
  keep(test: (event: LearningEvent) => boolean): number;
  /** Writes pending events. Fails silently: learning must never break a call. */
  flush(): void;
}

const FLUSH_AT = 64;

/** Reads the log and keeps its newest events. Skips lines that it cannot read. */
export function openLearningLog(path: string | undefined): LearningLog {
  const lines = path === undefined ? [] : readLines(path);
  let events = lines.map(parseLine).filter((event) => event !== undefined);
  events = events.slice(-KEPT_EVENTS);
  if (events.length < lines.length) rewrite(path, events);

  let pending: LearningEvent[] = [];
  let isCut = false;
  function flush(): void {
    const text = toLines(pending);
    pending = [];
    if (text === "" || path === undefined) return;
    // A write that failed may have left half a line.
    const start = isCut ? "\n" : "";
    isCut = true;
    attempt(() => {
      appendFileSync(path, `${start}${text}`);
      isCut = false;
    });
  }
  if (path !== undefined) attempt(() => mkdirSync(dirname(path), { recursive: true }));
  return {
    get events() {
      return events;
    },
    flush,
    append: (event) => {
      events.push(event);
      if (events.length > 2 * KEPT_EVENTS) events = events.slice(-KEPT_EVENTS);
      pending.push(event);
      if (pending.length >= FLUSH_AT) flush();
    },
    keep: (test) => {
      const before = events.length;
      events = events.filter(test);
      pending = [];
      rewrite(path, events);
      return before - events.length;
    },
  };
}

function readLines(path: string): string[] {
  const text = attempt(() => readFileSync(path, "utf8")) ?? "";
  return text.split("\n").filter((line) => line !== "");
}

function parseLine(line: string): LearningEvent | undefined {
  return learningEventSchema.safeParse(attempt(() => JSON.parse(line))).data;
}

function rewrite(path: string | undefined, events: readonly LearningEvent[]): void {
  if (path === undefined) return;
  const draft = `${path}.tmp`;
  attempt(() => {
    writeFileSync(draft, toLines(events));
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
