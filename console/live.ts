import { useEffect, useRef, useState } from "preact/hooks";
import { type LiveTopic, TOPICS } from "../src/faces/http/endpoints/api-types.ts";
import { ask, get, Refusal } from "./api.ts";

type Listener = (topics: readonly LiveTopic[]) => void;

const listeners = new Set<Listener>();
const RETRY_MS = 1_500;

/** The connection to the gateway: `gone` does not answer. */
export type Line = "connecting" | "live" | "gone";

const NAME = "keyhole-changes";
const WHICH_LINE = "line?";

/** News for all tabs. After a pause anything may have changed: `all`. */
interface News {
  readonly line?: Line;
  readonly topics?: readonly LiveTopic[] | "all";
}

/**
 * Follows the stream of changes and opens it again when it ends. One tab reads it for all tabs, because a browser opens
 * six connections to a host. Returns a function that stops it.
 */
export function followChanges(onLine: (line: Line) => void): () => void {
  const tabs = new BroadcastChannel(NAME);
  const ends = new AbortController();
  let left = new AbortController();
  /** The line of the stream that this tab reads. */
  let own: Line | undefined;
  /** Whether the page has just loaded everything. */
  let isNew = true;
  const hear = ({ line, topics }: News) => {
    if (line) onLine(line);
    if (topics) tell(topics === "all" ? TOPICS : topics);
  };
  const say = (news: News) => {
    own = news.line ?? own;
    hear(news);
    tabs.postMessage(news);
  };
  tabs.onmessage = ({ data }: MessageEvent<News | typeof WHICH_LINE>) => {
    if (data === WHICH_LINE) return own && tabs.postMessage({ line: own });
    isNew = false;
    hear(data);
  };

  async function lead(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const line = await read(signal, say, isNew).then(
        () => "connecting" as const,
        (error) => (error instanceof Refusal && error.status !== 0 ? "connecting" : "gone"),
      );
      isNew = false;
      if (signal.aborted) break;
      say({ line });
      await new Promise((done) => {
        setTimeout(done, RETRY_MS);
        signal.addEventListener("abort", done);
      });
    }
    own = undefined;
  }

  function follow(): void {
    left = new AbortController();
    const { signal } = left;
    tabs.postMessage(WHICH_LINE);
    // Over plain HTTP from another machine, a browser has no locks: each tab reads a stream of its own.
    const locks = navigator.locks as LockManager | undefined;
    void (locks?.request(NAME, { signal }, () => lead(signal)) ?? lead(signal)).catch(() => {});
  }

  // A browser keeps a page that was left, and its stream: the next pages would wait for a connection.
  addEventListener("pagehide", () => left.abort(), { signal: ends.signal });
  addEventListener("pageshow", ({ persisted }) => persisted && follow(), { signal: ends.signal });
  follow();
  return () => {
    ends.abort();
    left.abort();
    tabs.close();
  };
}

async function read(signal: AbortSignal, say: (news: News) => void, isNew: boolean): Promise<void> {
  const response = await ask("/api/events", { signal });
  if (!response.ok || !response.body) throw new Refusal(response.status, "No events.");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (event.includes("event: open")) say({ line: "live", ...(!isNew && { topics: "all" }) });
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (event.includes("event: change") && data) say({ topics: JSON.parse(data).topics });
    }
  }
}

function tell(topics: readonly LiveTopic[]): void {
  for (const listener of listeners) listener(topics);
}

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  reload(): void;
}

/**
 * Loads JSON, and loads it again when one of the topics has changed. A change never aborts a request: the next one
 * follows it. What was loaded stays while the gateway does not answer.
 */
export function useApi<T>(path: string, topics: readonly LiveTopic[] = []): Loaded<T> {
  const [state, setState] = useState<{ path: string; value?: T; error?: string }>({ path });
  const again = useRef(() => {});

  useEffect(() => {
    let isLeft = false;
    let isRunning = false;
    let isDue = false;
    const load = async () => {
      isDue = isRunning;
      if (isRunning) return;
      isRunning = true;
      const result = await get<T>(path).then(
        (value) => ({ value }),
        (error: Error) => ({ error: error.message, isGone: error instanceof Refusal && error.status === 0 }),
      );
      isRunning = false;
      if (isLeft) return;
      setState((before) => {
        const keeps = "isGone" in result && result.isGone && before.path === path && "value" in before;
        return keeps ? before : { path, ...result };
      });
      if (isDue) void load();
    };
    again.current = () => void load();
    const listener: Listener = (changed) => {
      // All topics at once: the gateway is there again.
      if (changed === TOPICS || changed.some((topic) => topics.includes(topic))) void load();
    };
    listeners.add(listener);
    void load();
    return () => {
      isLeft = true;
      listeners.delete(listener);
    };
  }, [path, topics.join()]);

  const isCurrent = state.path === path;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => again.current(),
  };
}
