import type { Key } from "ink";
import { useEffect, useRef, useState } from "react";

/** A pause this long without a key means that the person has stopped typing and looks at the question. */
const PAUSE_MS = 600;

/** Whether a question takes keys. Until then, every key belongs to the draft. */
export interface Attention {
  /** For drawing. */
  readonly given: boolean;
  /** For keys, which can arrive before the screen is drawn again. */
  isGiven(): boolean;
  /** The person types: the question waits for another pause. */
  typed(): void;
}

/** Gives attention to a question once it has been on the screen for a pause without keys. */
export function useAttention(question: number | undefined): Attention {
  const [keys, count] = useState(0);
  const [shown, show] = useState<string>();
  const given = useRef<string>(undefined);
  const pause = question === undefined ? undefined : `${question} after ${keys}`;

  useEffect(() => {
    if (pause === undefined) return;
    const timer = setTimeout(() => {
      given.current = pause;
      show(pause);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [pause]);

  return {
    given: pause !== undefined && shown === pause,
    isGiven: () => pause !== undefined && given.current === pause,
    typed: () => {
      given.current = undefined;
      if (question !== undefined) count((before) => before + 1);
    },
  };
}

/** Keys that answer a question with attention. No key that writes text is among them. */
export function isAnswerKey(key: Partial<Key>): boolean {
  if (key.ctrl || key.meta || key.shift) return false;
  return [key.upArrow, key.downArrow, key.pageUp, key.pageDown, key.return, key.escape].includes(true);
}
