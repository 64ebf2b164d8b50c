/**
 * Shares checks among callers so that each gets one that began after it came. A caller that comes during a check
 * waits for the next one.
 */
export function checkAfter(check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    if (next) return next;
    const begin = () => {
      next = undefined;
      return check();
    };
    next = last.then(begin, begin);
    last = next;
    return next;
  };
}
