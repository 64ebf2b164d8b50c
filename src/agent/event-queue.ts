/** A queue from many writers to one reader, in order and without loss. */
export interface EventQueue<T> {
  push(value: T): void;
  /** Ends the queue after the values that it holds. */
  close(): void;
  values(): AsyncGenerator<T, void>;
}

export function createEventQueue<T>(): EventQueue<T> {
  const waiting: T[] = [];
  let bell = Promise.withResolvers<void>();
  let closed = false;
  return {
    push: (value) => {
      if (closed) return;
      waiting.push(value);
      bell.resolve();
    },
    close: () => {
      closed = true;
      bell.resolve();
    },
    values: async function* () {
      while (true) {
        while (waiting.length > 0) yield waiting.shift()!;
        if (closed) return;
        await bell.promise;
        bell = Promise.withResolvers();
      }
    },
  };
}
