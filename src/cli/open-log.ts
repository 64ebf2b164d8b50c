import { type KeyholeEvent, onEvent, onNotice } from "../telemetry/events.ts";
import { type LogLevel, toLogLine } from "../telemetry/log-line.ts";
import { reasonOf } from "../util/reason-of.ts";

/**
 * Tells events on stderr, at the level of the settings or of LOG_LEVEL. Events wait until that level is known. Must
 * not reject: a log never ends a server.
 */
export async function openLog(config?: string): Promise<void> {
  let level: LogLevel | undefined;
  const waiting: KeyholeEvent[] = [];
  const tell = (event: KeyholeEvent) => {
    if (level === undefined) return void waiting.push(event);
    const line = toLogLine(event, level);
    if (line !== undefined) console.error(line);
  };
  const stop = onNotice(tell);
  level = await readLevel(config);
  for (const event of waiting) tell(event);
  if (level !== "debug") return;
  stop();
  onEvent(tell);
}

async function readLevel(config: string | undefined): Promise<LogLevel> {
  try {
    const { loadSettings } = await import("../config/load-settings.ts");
    return (await loadSettings({ config })).settings.logging.level;
  } catch (error) {
    console.error(`The level of the log is info: ${reasonOf(error)}`);
    return "info";
  }
}
