/** Tracks the calls that are under way. */
export interface InFlight {
  /** Registers a call. Returns the function that ends it. */
  enter(): () => void;
  /** Resolves when the calls under way now have ended. Later calls do not delay it. */
  settled(): Promise<void>;
}

export function createInFlight(): InFlight {
  /** The functions that end the calls. Most calls are never waited for, so nothing else is made for them. */
  const open = new Set<() => void>();
  const waiting = new Map<() => void, (() => void)[]>();
  return {
    enter: () => {
      const end = () => {
        open.delete(end);
        for (const resolve of waiting.get(end) ?? []) resolve();
        waiting.delete(end);
      };
      open.add(end);
      return end;
    },
    settled: async () => {
      const ended = [...open].map(
        (end) => new Promise<void>((resolve) => waiting.set(end, [...(waiting.get(end) ?? []), resolve])),
      );
      await Promise.all(ended);
    },
  };
}

/** Waits for a promise, at the latest until this time is over. */
export async function withTimeout(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
