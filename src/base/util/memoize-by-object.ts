/** Caches the result of a function for each object, as long as the object lives. */
export function memoizeByObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    let entry = cache.get(key);
    if (!entry) {
      entry = { value: make(key) };
      cache.set(key, entry);
    }
    return entry.value;
  };
}
