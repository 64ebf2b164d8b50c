/** Knows which calls are under way. */
export interface InFlight {
  /** Notes a call; the answer ends it. */
  enter(): () => void;
  /** Resolves when all that are under way now have ended, however many come after them. */
  settled(): Promise<void>;
}

export function createInFlight(): InFlight {
  const open = new Set<Promise<void>>();
  return {
    enter: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.add(promise);
      return () => {
        open.delete(promise);
        resolve();
      };
    },
    settled: async () => void (await Promise.all(open)),
  };
}
