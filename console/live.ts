import { useEffect, useRef, useState } from "preact/hooks";
import { type LiveTopic, TOPICS } from "../src/faces/http/endpoints/api-types.ts";
import { ask, get, Refusal } from "./api.ts";

type Listener = (topics: readonly LiveTopic[]) => void;

const listeners = new Set<Listener>();
const RETRY_MS = 1_500;

/** The connection to the gateway: `gone` does not answer. */
export type Line = "connecting" | "live" | "gone";

/** Follows the stream of changes and opens it again when it ends. Returns a function that stops it. */
export function followChanges(onLine: (line: Line) => void): () => void {
  const stop = new AbortController();
  let stream = new AbortController();
  // A browser keeps a page that was left, and its stream: the next pages would wait for a connection.
  addEventListener("pagehide", () => stream.abort(), { signal: stop.signal });
  void (async () => {
    for (let isFirst = true; !stop.signal.aborted; isFirst = false) {
      stream = new AbortController();
      const { signal } = stream;
      const line = await read(AbortSignal.any([stop.signal, signal]), () => {
        onLine("live");
        // Anything may have changed while nobody listened.
        if (!isFirst) tell(TOPICS);
      }).then(
        () => "connecting" as const,
        (error) =>
          signal.aborted || (error instanceof Refusal && error.status !== 0) ? "connecting" : "gone",
      );
      if (!stop.signal.aborted) onLine(line);
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  })();
  return () => stop.abort();
}

async function read(signal: AbortSignal, onOpen: () => void): Promise<void> {
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
      if (event.includes("event: open")) onOpen();
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (event.includes("event: change") && data) tell(JSON.parse(data).topics);
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
