/** Passes values from a producer to one reader. */
export interface Outlet<T> {
  /** Offers a value in place of one that was not read yet. Resolves when the reader is done with it. */
  put(value: T): Promise<void>;
  /** Reads values until the signal aborts. */
  values(signal: AbortSignal): AsyncIterable<T>;
}

export function createOutlet<T>(): Outlet<T> {
  let next: { readonly value: T; readonly done: PromiseWithResolvers<void> } | undefined;
  let bell = Promise.withResolvers<void>();
  let closed = false;

  return {
    put: (value) => {
      if (closed) return Promise.resolve();
      const done = next?.done ?? Promise.withResolvers<void>();
      next = { value, done };
      bell.resolve();
      return done.promise;
    },
    values: async function* (signal) {
      const ring = () => bell.resolve();
      signal.addEventListener("abort", ring, { once: true });
      try {
        while (!signal.aborted) {
          if (!next) {
            await bell.promise;
            bell = Promise.withResolvers();
            continue;
          }
          const { value, done } = next;
          next = undefined;
          try {
            yield value;
          } finally {
            done.resolve();
          }
        }
      } finally {
        closed = true;
        next?.done.resolve();
        signal.removeEventListener("abort", ring);
      }
    },
  };
}
