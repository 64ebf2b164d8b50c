import type { Key } from "ink";
import { useEffect, useRef, useState } from "react";

/** A pause this long without a key means that the person has stopped typing and looks at the question. */
const PAUSE_MS = 600;

/** A question and the keys that it takes. Until it has attention, every key belongs to the draft. */
export interface Attention {
  /** Whether the question takes keys, for drawing. */
  readonly given: boolean;
  /** The number of the choice, for drawing. */
  readonly chosen: number | undefined;
  /** Whether a key is for the question. No key that writes text is, and Enter only after a choice. */
  takes(key: Partial<Key>): boolean;
  choose(next: (chosen: number | undefined) => number): void;
  /** The choice, also if the screen is not drawn yet. */
  latest(): number | undefined;
  /** The person types: the choice is dropped, and the question waits for another pause. */
  typed(): void;
}

/** Gives attention to a question once it has been on the screen for a pause without keys. */
export function useAttention(question: number | undefined): Attention {
  const [keys, count] = useState(0);
  const [shown, show] = useState<Given>();
  const given = useRef<Given>(undefined);
  const pause = question === undefined ? undefined : `${question} after ${keys}`;

  useEffect(() => {
    if (pause === undefined) return;
    const timer = setTimeout(() => {
      given.current = { pause, chosen: undefined };
      show(given.current);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [pause]);

  // Keys can arrive before the screen is drawn again, so they go by the latest state.
  const now = () => (pause !== undefined && given.current?.pause === pause ? given.current : undefined);
  const drawn = shown?.pause === pause ? shown : undefined;
  return {
    given: drawn !== undefined,
    chosen: drawn?.chosen,
    takes: (key) => {
      const current = now();
      if (!current || key.ctrl || key.meta || key.shift) return false;
      if (key.return) return current.chosen !== undefined;
      return [key.upArrow, key.downArrow, key.pageUp, key.pageDown, key.escape].includes(true);
    },
    choose: (next) => {
      const current = now();
      if (!current) return;
      given.current = { ...current, chosen: next(current.chosen) };
      show(given.current);
    },
    latest: () => now()?.chosen,
    typed: () => {
      given.current = undefined;
      if (question !== undefined) count((before) => before + 1);
    },
  };
}

interface Given {
  /** The pause that gave the attention. */
  readonly pause: string;
  readonly chosen: number | undefined;
}
