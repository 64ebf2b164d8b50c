import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import { backoffMs } from "../../util/backoff.ts";
import type { Clock } from "../../util/clock.ts";
import { sleep } from "../../util/sleep.ts";

interface ListenOptions {
  readonly clock: Clock;
  /** Raised when the client is closed. */
  readonly signal: AbortSignal;
  /** Called after a gap in the stream, in which changes may have been missed. */
  onMissed(): void;
}

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

/** Opens the stream of change notifications of the newer protocol again whenever the server ends it. */
export async function keepListening(client: Client, options: ListenOptions): Promise<void> {
  const { clock, signal, onMissed } = options;
  let stream: McpSubscription | undefined = client.autoOpenedSubscription;
  let filter = stream?.honoredFilter;
  let openedAt = clock.monotonic();
  let failures = 0;
  while (filter && (!stream || (await stream.closed) !== "local")) {
    // Streams that end early count as failures: the waits between them grow.
    failures = stream && clock.monotonic() - openedAt > LONGEST_WAIT_MS ? 1 : failures + 1;
    await sleep(backoffMs(failures, { firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS }), clock, signal);
    if (signal.aborted) return;
    stream = await client.listen(filter, { signal }).catch(() => undefined);
    if (!stream) continue;
    filter = stream.honoredFilter;
    openedAt = clock.monotonic();
    onMissed();
  }
}
