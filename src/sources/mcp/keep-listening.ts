import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import type { Clock } from "../../util/clock.ts";
import { sleep } from "../../util/sleep.ts";

interface ListenOptions {
  readonly clock: Clock;
  /** Raised when the client is closed. */
  readonly signal: AbortSignal;
  /** There was no stream for a while: something may have changed meanwhile. */
  onMissed(): void;
}

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Opens the stream on which a server of the newer protocol tells of changes again, whenever the server ends it. */
export async function keepListening(client: Client, options: ListenOptions): Promise<void> {
  const { clock, signal, onMissed } = options;
  let stream = client.autoOpenedSubscription;
  let opened = clock.monotonic();
  let wait = SHORTEST_WAIT_MS;
  while (stream && (await stream.closed) !== "local" && !signal.aborted) {
    // One that never lasts is not asked for as often as one that does.
    const lasted = clock.monotonic() - opened > LONGEST_WAIT_MS;
    wait = lasted ? SHORTEST_WAIT_MS : Math.min(wait * 2, LONGEST_WAIT_MS);
    stream = await listenAgain(client, stream, wait, options);
    opened = clock.monotonic();
    if (stream) onMissed();
  }
}

async function listenAgain(
  client: Client,
  { honoredFilter }: McpSubscription,
  firstWait: number,
  { clock, signal }: ListenOptions,
): Promise<McpSubscription | undefined> {
  for (let wait = firstWait; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    await sleep(wait * (0.5 + Math.random() / 2), clock, signal);
    if (signal.aborted) return undefined;
    const stream = await client.listen(honoredFilter, { signal }).catch(() => undefined);
    if (stream) return stream;
  }
}
