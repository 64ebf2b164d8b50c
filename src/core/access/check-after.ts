/**
 * Shares checks among callers. A caller that arrives during a check waits for the next one, because the running check
 * may have missed the change that the caller needs.
 */
export function checkAfter(check: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    next = undefined;
    const started = check().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  }

  return () => {
    if (!running) return start();
    next ??= running.then(start, start);
    return next;
  };
}
