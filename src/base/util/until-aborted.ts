/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", leave));
}
