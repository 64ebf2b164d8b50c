import type { LoadedSettings } from "../config/load-settings.ts";
import type { Telemetry } from "../config/start-telemetry.ts";
import { reasonOf } from "../util/reason-of.ts";

/** Starts telemetry if the settings enable it. Never throws; problems go to stderr. */
export async function openTelemetry(loading: Promise<LoadedSettings>): Promise<Telemetry | undefined> {
  try {
    const { settings, problems } = await loading;
    for (const { message, next } of problems) console.error(`${message} ${next}`);
    if (!settings.telemetry.enabled) return undefined;
    const [{ startTelemetry }, { secretsOf }] = await Promise.all([
      import("../config/start-telemetry.ts"),
      import("../config/secrets-of.ts"),
    ]);
    return await startTelemetry({ ...settings.telemetry, secrets: secretsOf(settings) });
  } catch (error) {
    console.error(`Telemetry is off: ${reasonOf(error)}`);
    return undefined;
  }
}
