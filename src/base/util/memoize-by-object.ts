/** Caches the result of a function for each object, as long as the object lives. */
export function memoizeByObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    let made = known.get(key);
    if (!made) {
      made = { value: make(key) };
      known.set(key, made);
    }
    return made.value;
  };
}
