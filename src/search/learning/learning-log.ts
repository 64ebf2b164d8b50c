import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type LearningEvent, learningEventSchema } from "./learning-event.ts";

const KEPT_EVENTS = 10_000;

/** Events in a file, one JSON a line, the oldest forgotten. */
export interface LearningLog {
  readonly events: readonly LearningEvent[];
  append(event: LearningEvent): void;
  /** Writes what is not yet written. Fails silently: learning must never break a call. */
  flush(): void;
}

const FLUSH_AT = 64;

/** Reads the log and keeps its newest events. Lines that cannot be read are passed over. */
export function openLearningLog(path: string): LearningLog {
  const lines = readLines(path);
  const parsed = lines.map(parseLine).filter((event) => event !== undefined);
  const events = parsed.slice(-KEPT_EVENTS);
  if (events.length < lines.length) attempt(() => rewrite(path, events));

  let pending: LearningEvent[] = [];
  function flush(): void {
    const text = pending.map((event) => `${JSON.stringify(event)}\n`).join("");
    pending = [];
    if (text !== "") attempt(() => appendFileSync(path, text));
  }
  attempt(() => mkdirSync(dirname(path), { recursive: true }));
  return {
    events,
    flush,
    append: (event) => {
      pending.push(event);
      if (pending.length >= FLUSH_AT) flush();
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

function rewrite(path: string, events: readonly LearningEvent[]): void {
  const draft = `${path}.tmp`;
  writeFileSync(draft, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  renameSync(draft, path);
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
