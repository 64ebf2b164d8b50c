/**
 * Remembers results until the turn of the event loop ends. A start with many servers looks the same files up again and
 * again, and nothing else runs in between.
 */
export function thisTurn<Value>(look: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    if (!known.has(key)) {
      if (known.size === 0) setImmediate(() => known.clear());
      known.set(key, look(key));
    }
    return known.get(key) as Value;
  };
}
