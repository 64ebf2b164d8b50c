import { secretVariables } from "../../base/safety/secret-values.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { type KeyholeEvent, onEvent, onNotice } from "../../core/telemetry/events.ts";
import { createLogLines } from "../../core/telemetry/log-line.ts";
import type { Telemetry } from "../../core/telemetry/start-telemetry.ts";
import { isolationFault } from "../../sources/isolation/isolation.ts";
import { type Settings, secretsOf } from "./settings-schema.ts";

/** Starts telemetry if the settings enable it. Never throws; problems go to stderr. */
export async function openTelemetry(settings: Settings): Promise<Telemetry | undefined> {
  if (!settings.telemetry.enabled) return undefined;
  try {
    const { startTelemetry } = await import("../../core/telemetry/start-telemetry.ts");
    const secrets = [...secretVariables(process.env), ...secretsOf(settings)];
    return await startTelemetry({ ...settings.telemetry, secrets });
  } catch (error) {
    console.error(`Telemetry is off: ${reasonOf(error)}`);
    return undefined;
  }
}

/** Tells, once for a process that starts servers, that they have no sandbox on this machine. */
export async function tellIsolation(): Promise<void> {
  const fault = await isolationFault();
  if (fault !== undefined) console.error(`Servers run without a sandbox: ${fault}.`);
}

/** Tells events on stderr. Events wait for the work at hand: a start with many servers has many. */
export function openLog({ logging: { level } }: Settings): void {
  const toLine = createLogLines(level);
  let waiting: KeyholeEvent[] = [];
  const flush = () => {
    const lines = waiting.flatMap((event) => toLine(event) ?? []);
    waiting = [];
    if (lines.length > 0) console.error(lines.join("\n"));
  };
  const tell = (event: KeyholeEvent) => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(event);
  };
  process.once("exit", flush);
  if (level === "debug") onEvent(tell);
  else onNotice(tell);
}
