/**
 * Shares checks among callers. A caller that arrives during a check waits for the next one, because the running check
 * may have missed the change that the caller needs.
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
