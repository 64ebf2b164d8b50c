/**
 * Answers requests of earlier runs in the order in which the script got those answers, so that the script does the
 * same again.
 */
export interface Replay {
  /** Delivers the answer to a request when it is its turn. */
  offer(number: number, deliver: () => void): void;
  /** Resolves when all earlier answers were delivered. New answers have to wait for it. */
  readonly over: Promise<void>;
  readonly isOver: boolean;
}

export function createReplay(earlier: readonly { readonly number: number }[]): Replay {
  const turns = new Map(earlier.map(({ number }, turn) => [number, turn]));
  const held = new Map<number, () => void>();
  const over = Promise.withResolvers<void>();
  let next = 0;
  const check = () => {
    if (next === earlier.length) over.resolve();
  };
  check();
  return {
    offer: (number, deliver) => {
      held.set(turns.get(number)!, deliver);
      for (let ready = held.get(next); ready; ready = held.get(next)) {
        ready();
        next += 1;
      }
      check();
    },
    over: over.promise,
    get isOver() {
      return next === earlier.length;
    },
  };
}
