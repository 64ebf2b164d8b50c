import { isFields } from "../util/fields.ts";
import type { Settings } from "./settings-schema.ts";

const SECRET_KEYS = new Set(["apiKey", "token", "clientSecret", "privateKey"]);
/** Objects whose values all count as secrets. */
const SECRET_HOLDERS = new Set(["env", "headers"]);
const MIN_CHARS = 6;

/** The secrets in the settings, which must not be shown, written or sent. */
export function secretsOf(settings: Settings): string[] {
  const found = new Set<string>();
  const walk = (value: unknown, isSecret: boolean): void => {
    if (isSecret && typeof value === "string" && value.length >= MIN_CHARS) found.add(value);
    if (!isFields(value)) return;
    for (const [key, part] of Object.entries(value)) {
      walk(part, isSecret || SECRET_KEYS.has(key) || SECRET_HOLDERS.has(key));
    }
  };
  walk({ providers: settings.providers, telemetry: settings.telemetry, servers: settings.mcpServers }, false);
  return [...found];
}
