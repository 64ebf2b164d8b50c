/** Tracks the calls that are under way. */
export class InFlight {
  readonly #calls = new Set<PromiseWithResolvers<void>>();

  /** Registers a call. Returns the function that ends it. */
  enter(): () => void {
    const call = Promise.withResolvers<void>();
    this.#calls.add(call);
    return () => {
      this.#calls.delete(call);
      call.resolve();
    };
  }

  /** Resolves when the calls under way now have ended. Later calls do not delay it. */
  async settled(): Promise<void> {
    await Promise.all([...this.#calls].map(({ promise }) => promise));
  }
}

/** Waits for a promise, at the latest until this time is over. */
export async function withTimeout(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}
