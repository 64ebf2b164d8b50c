import { isFields } from "../util/fields.ts";
import { secretsIn, secretsInArgs, secretsInFields } from "../util/secret-values.ts";
import type { Settings } from "./settings-schema.ts";

/** Settings that are secrets whatever they look like. */
const SECRET_KEYS = new Set(["apiKey", "token", "clientSecret", "privateKey"]);

/** The secrets in the settings, which must not be shown, written or sent. */
export function secretsOf(settings: Settings): string[] {
  const found = new Set<string>();
  const take = (secrets: readonly string[]) => {
    for (const secret of secrets) found.add(secret);
  };
  const walk = (value: unknown): void => {
    if (!isFields(value)) return;
    for (const [key, part] of Object.entries(value)) {
      if (typeof part === "string") take(SECRET_KEYS.has(key) ? [part] : secretsIn(key, part));
      else if ((key === "env" || key === "headers") && isFields(part)) take(secretsInFields(textsOf(part)));
      else if (key === "args" && Array.isArray(part)) take(secretsInArgs(part.map(String)));
      else walk(part);
    }
  };
  walk({ providers: settings.providers, telemetry: settings.telemetry, servers: settings.mcpServers });
  return [...found];
}

function textsOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}
