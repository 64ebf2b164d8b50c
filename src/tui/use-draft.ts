import { useRef, useState } from "react";
import { type Draft, type Edit, EMPTY_DRAFT, edit } from "./line-editor.ts";

/** The draft of the input. */
export interface DraftState {
  /** For drawing. */
  readonly shown: Draft;
  /** For keys, which can arrive before the screen is drawn again: each builds on the previous state. */
  latest(): Draft;
  change(next: Edit): void;
}

/** A draft with the lines sent before. */
export function useDraft(history: readonly string[] = []): DraftState {
  const [shown, show] = useState<Draft>(() => ({ ...EMPTY_DRAFT, history, place: history.length }));
  const latest = useRef(shown);
  return {
    shown,
    latest: () => latest.current,
    change: (next) => {
      latest.current = edit(latest.current, next);
      show(latest.current);
    },
  };
}
