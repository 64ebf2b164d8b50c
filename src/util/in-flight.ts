/** Tracks the calls that are under way. */
export interface InFlight {
  /** Registers a call. Returns the function that ends it. */
  enter(): () => void;
  /** Resolves when the calls under way now have ended. Later calls do not delay it. */
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
