import { useEffect, useState } from "preact/hooks";
import { type LiveTopic, TOPICS } from "../src/faces/http/endpoints/api-types.ts";
import { ask, get, Refusal } from "./api.ts";

type Listener = (topics: readonly LiveTopic[]) => void;

const listeners = new Set<Listener>();
const RETRY_MS = 1_500;

/** Follows the stream of changes and opens it again when it ends. Returns a function that stops it. */
export function followChanges(onState: (isLive: boolean) => void): () => void {
  const stop = new AbortController();
  void (async () => {
    for (let isFirst = true; !stop.signal.aborted; isFirst = false) {
      await read(stop.signal, () => {
        onState(true);
        // Anything may have changed while nobody listened.
        if (!isFirst) tell(TOPICS);
      }).catch(() => {});
      onState(false);
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

/** Loads JSON, and loads it again when one of the topics has changed. */
export function useApi<T>(path: string, topics: readonly LiveTopic[] = []): Loaded<T> {
  const [state, setState] = useState<{ path: string; value?: T; error?: string }>({ path });
  const [turn, setTurn] = useState(0);
  const reload = () => setTurn((before) => before + 1);

  useEffect(() => {
    const stop = new AbortController();
    get<T>(path, stop.signal).then(
      (value) => setState({ path, value }),
      (error: Error) => stop.signal.aborted || setState({ path, error: error.message }),
    );
    return () => stop.abort();
  }, [path, turn]);

  useEffect(() => {
    const listener: Listener = (changed) => {
      if (changed.some((topic) => topics.includes(topic))) reload();
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [topics.join()]);

  const isCurrent = state.path === path;
  return { value: isCurrent ? state.value : undefined, error: isCurrent ? state.error : undefined, reload };
}
