import type { LearningEvent } from "./learning-event.ts";
import { openLearningLog } from "./learning-log.ts";
import { createLearningState, type LearningState } from "./learning-state.ts";

export interface LearningOptions {
  /** File that keeps what was learned; without it, it lasts as long as the process. */
  readonly log?: string;
  readonly now?: () => number;
}

type Noted<E> = E extends LearningEvent ? Omit<E, "at"> : never;

/** Learns from use which entries serve which queries, and which follow which. */
export interface Learning extends Pick<LearningState, "prior" | "after"> {
  note(event: Noted<LearningEvent>): void;
  unmet(): ReturnType<LearningState["unmet"]>;
  close(): void;
}

/** Starts from what the log holds, by replaying it. */
export function createLearning(
  termsOf: (query: string) => readonly string[],
  { log: path, now = Date.now }: LearningOptions = {},
): Learning {
  const state = createLearningState(termsOf);
  const log = path === undefined ? undefined : openLearningLog(path);
  for (const event of log?.events ?? []) state.apply(event);
  return {
    prior: state.prior,
    after: state.after,
    unmet: () => state.unmet(now()),
    note: (noted) => {
      const event = { ...noted, at: now() } as LearningEvent;
      state.apply(event);
      log?.append(event);
    },
    close: () => log?.flush(),
  };
}
