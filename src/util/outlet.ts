/** Hands values from whoever makes them to one reader who comes for them. */
export interface Outlet<T> {
  /** Puts a value out, in the place of one that was not taken yet. Resolves when the reader is done with it. */
  put(value: T): Promise<void>;
  /** What was put out, until the signal is raised. */
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
