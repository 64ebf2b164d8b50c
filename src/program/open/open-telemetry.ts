import { reasonOf } from "../../base/util/reason-of.ts";
import { type KeyholeEvent, onEvent, onNotice } from "../../core/telemetry/events.ts";
import { type LogLineLevel, toLogLine } from "../../core/telemetry/log-line.ts";
import type { Telemetry } from "../../core/telemetry/start-telemetry.ts";
import type { LoadedSettings } from "./load-settings.ts";

/** Starts telemetry if the settings enable it. Never throws; problems go to stderr. */
export async function openTelemetry(loading: Promise<LoadedSettings>): Promise<Telemetry | undefined> {
  try {
    const { settings, problems } = await loading;
    for (const { message, next } of problems) console.error(`${message} ${next}`);
    if (!settings.telemetry.enabled) return undefined;
    const [{ startTelemetry }, { secretsOf }] = await Promise.all([
      import("../../core/telemetry/start-telemetry.ts"),
      import("./settings-schema.ts"),
    ]);
    return await startTelemetry({ ...settings.telemetry, secrets: secretsOf(settings) });
  } catch (error) {
    console.error(`Telemetry is off: ${reasonOf(error)}`);
    return undefined;
  }
}

/**
 * Tells events on stderr, at the level of the settings or of LOG_LEVEL. Events wait until that level is known, and then
 * for the work at hand: a start with many servers has many. Must not reject: a log never ends a server.
 */
export async function openLog(loading: Promise<LoadedSettings>): Promise<void> {
  let level: LogLineLevel | undefined;
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
