/** Waits for a promise, at the latest until this time is over. */
export async function soonest(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
