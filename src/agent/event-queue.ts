/** Values from whoever has them to one reader, in order, none lost. */
export interface EventQueue<T> {
  push(value: T): void;
  /** Nothing comes after it; what is there is still read. */
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
