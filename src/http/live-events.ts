import type { Gateway } from "../gateway-api.ts";
import type { Principal } from "../schema/principal.ts";
import { isAdmin } from "./parts/admin-scope.ts";
import type { Topic } from "./parts/answers.ts";
import type { Endpoint } from "./parts/endpoint.ts";
import type { News, Recorder } from "./parts/recorder.ts";

/** News that come close together are sent as one event. */
const GATHER_MS = 150;
/** Proxies close streams that stay silent. */
const BEAT_MS = 20_000;

/** The stream of changes, and whether somebody with the admin scope reads it. */
export interface LiveEvents {
  readonly endpoint: Endpoint;
  isAttended(): boolean;
}

/** Tells each reader what has changed for it. People who run the gateway hear of everything, others of their own. */
export function createLiveEvents(gateway: Gateway, recorder: Recorder): LiveEvents {
  const attending = new Set<object>();

  async function open(principal: Principal, signal: AbortSignal): Promise<Response> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const send = (text: string) => void writer.write(encoder.encode(text)).catch(() => {});
    const topics = new Set<Topic>();
    let timer: NodeJS.Timeout | undefined;
    let version = (await gateway.view({ principal })).version;

    async function flush(): Promise<void> {
      timer = undefined;
      const now = (await gateway.view({ principal })).version;
      // A change outside the reader's View did not happen for it.
      if (now === version && !isAdmin(principal)) topics.delete("catalog");
      version = now;
      if (topics.size > 0) send(`event: change\ndata: ${JSON.stringify({ topics: [...topics] })}\n\n`);
      topics.clear();
    }

    const stop = recorder.onNews((news) => {
      if (!mayHear(principal, news)) return;
      topics.add(news.topic);
      timer ??= setTimeout(() => void flush().catch(() => {}), GATHER_MS);
    });
    const beat = setInterval(() => send(": still here\n\n"), BEAT_MS);
    beat.unref();
    if (isAdmin(principal)) attending.add(signal);
    signal.addEventListener("abort", () => {
      stop();
      clearTimeout(timer);
      clearInterval(beat);
      attending.delete(signal);
      void writer.close().catch(() => {});
    });
    send("retry: 1000\nevent: open\ndata: {}\n\n");
    return new Response(readable, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  }

  return {
    endpoint: {
      method: "GET",
      path: "/api/events",
      title: "Live changes, as server-sent events.",
      isStream: true,
      handle: ({ principal, signal }) => open(principal, signal),
    },
    isAttended: () => attending.size > 0,
  };
}

function mayHear(principal: Principal, { topic, principal: about }: News): boolean {
  if (isAdmin(principal)) return true;
  return topic === "catalog" || (topic === "calls" && about === principal.id);
}
