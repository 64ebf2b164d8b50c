import type { OpenStorage, Storage, StorageOptions } from "../../base/util/storage.ts";
import { createFairCache } from "./fair-cache.ts";
import { heapBytes } from "./heap-bytes.ts";

/** A value, or a growing list. */
interface MemoryItem<V> {
  readonly values: V[];
  readonly size: number;
}

export const openMemoryStorage: OpenStorage = (_, options) => createMemoryStorage(options);

/** Storage in memory. `size` estimates the bytes of values. `now` is for tests. */
export function createMemoryStorage<V>(
  { all, perOwner, ttlMs, lasting = false, overhead = 0 }: StorageOptions<V>,
  now?: () => number,
): Storage<V> & { readonly size: number } {
  const items = createFairCache<MemoryItem<V>>({ all, perOwner, ttlMs, ...(now && { now }) });
  const sizeOf = (values: readonly V[]) => values.reduce((size, value) => size + heapBytes(value), overhead);

  function set(id: string, owner: string, values: V[], size = sizeOf(values)): void {
    items.set(id, owner, { values, size }, size);
  }

  return {
    get size() {
      return items.size;
    },
    get: async (key, owner) => {
      const id = idOf(key, owner);
      return (lasting ? items.get(id, owner) : items.renew(id, owner))?.values[0];
    },
    has: async (key, owner) => items.get(idOf(key, owner), owner) !== undefined,
    put: async (key, owner, ...values) => {
      const id = idOf(key, owner);
      const isThere = lasting ? items.get(id, owner) : items.renew(id, owner);
      if (isThere || (lasting && !items.hasRoom(owner, sizeOf(values)))) return false;
      set(id, owner, [...values]);
      return true;
    },
    update: async (key, owner, change) => {
      const id = idOf(key, owner);
      const item = items.get(id, owner);
      if (!item) return undefined;
      // No await before the write: two changes must not start from the same value.
      const value = change(item.values[0]!);
      items.delete(id);
      if (value === undefined) return undefined;
      const size = sizeOf([value]);
      const fits = !lasting || size <= item.size || items.hasRoom(owner, size);
      set(id, owner, fits ? [value] : item.values, fits ? size : item.size);
      return fits ? value : item.values[0];
    },
    append: async (key, owner, position, value) => {
      const id = idOf(key, owner);
      const item = items.get(id, owner);
      if (item?.values.length !== position) return false;
      item.values.push(value);
      // Estimating all values again would make long lists slow.
      set(id, owner, item.values, item.size + heapBytes(value));
      return true;
    },
    list: async (key, owner, from = 0) => (items.get(idOf(key, owner), owner)?.values ?? []).slice(from),
  };
}

/** Keys of different owners never meet. */
function idOf(key: string, owner: string): string {
  return `${owner.length} ${owner}${key}`;
}
