import type { LoadedSettings } from "../config/load-settings.ts";
import { type KeyholeEvent, onEvent, onNotice } from "../telemetry/events.ts";
import { type LogLevel, toLogLine } from "../telemetry/log-line.ts";

/**
 * Tells events on stderr, at the level of the settings or of LOG_LEVEL. Events wait until that level is known, and then
 * for the work at hand: a start with many servers has many. Must not reject: a log never ends a server.
 */
export async function openLog(loading: Promise<LoadedSettings>): Promise<void> {
  let level: LogLevel | undefined;
  let waiting: KeyholeEvent[] = [];
  let isFlushing = false;
  const flush = () => {
    isFlushing = false;
    const events = waiting;
    waiting = [];
    const lines = events.flatMap((event) => toLogLine(event, level ?? "info") ?? []);
    if (lines.length > 0) console.error(lines.join("\n"));
  };
  const flushSoon = () => {
    if (isFlushing || level === undefined || waiting.length === 0) return;
    isFlushing = true;
    setImmediate(flush);
  };
  const tell = (event: KeyholeEvent) => {
    waiting.push(event);
    flushSoon();
  };
  const stop = onNotice(tell);
  process.once("exit", flush);
  level = await loading.then(
    ({ settings }) => settings.logging.level,
    () => "info" as const,
  );
  flushSoon();
  if (level !== "debug") return;
  stop();
  onEvent(tell);
}
