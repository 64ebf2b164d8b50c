import type { LoadedSettings, SettingsSource } from "../config/load-settings.ts";
import { secretsOf } from "../config/secrets-of.ts";
import type { ShownSetting } from "../http/parts/answers.ts";
import { isFields } from "../util/fields.ts";
import { createRedact } from "../util/redact.ts";

/** Fields whose values may be secret whatever they look like: only their names are shown. */
const NAMES_ONLY = new Set(["env", "headers", "oauth"]);
const HIDDEN = new Set(["apiKey", "token", "clientSecret", "privateKey"]);

/** The settings in effect, each with the file or variable that it comes from. */
export function shownSettings({ settings, sources }: LoadedSettings): readonly ShownSetting[] {
  const redact = createRedact(secretsOf(settings));
  const strongestFirst = [...sources].reverse();
  return [...leaves(settings, [])].map(([path, value]) => ({
    name: path.join("."),
    value: redact(value),
    from: originOf(path, strongestFirst),
  }));
}

function* leaves(value: unknown, path: readonly string[]): Generator<[readonly string[], unknown]> {
  const name = path.at(-1) ?? "";
  if (HIDDEN.has(name)) return yield [path, value ? "(set)" : ""];
  if (NAMES_ONLY.has(name) && isFields(value)) return yield [path, Object.keys(value)];
  if (!isFields(value)) return yield [path, value];
  for (const [key, part] of Object.entries(value)) yield* leaves(part, [...path, key]);
}

/** The strongest source that names the setting, or something within it. */
function originOf(path: readonly string[], strongestFirst: readonly SettingsSource[]): string {
  const found = strongestFirst.find(({ value }) => has(value, path));
  if (!found) return "default";
  return found.from === "environment" ? `environment: ${found.path}` : found.path;
}

function has(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return value !== undefined;
  return isFields(value) && Object.hasOwn(value, key) && has(value[key], rest);
}
