/** Connections or requests that are not complete yet. Beyond the limit, the oldest gives way to the newest. */
export interface Unfinished<T> {
  add(item: T): void;
  delete(item: T): void;
  readonly size: number;
}

export function createUnfinished<T>(limit: number, end: (oldest: T) => void): Unfinished<T> {
  const items = new Set<T>();
  return {
    get size() {
      return items.size;
    },
    add: (item) => {
      items.add(item);
      const [oldest] = items;
      if (items.size <= limit || oldest === undefined) return;
      items.delete(oldest);
      end(oldest);
    },
    delete: (item) => void items.delete(item),
  };
}
