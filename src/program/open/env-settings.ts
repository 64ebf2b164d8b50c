import { modelPath } from "../../agent/models/models-config.ts";
import type { Provider } from "../../agent/models/providers/define-provider.ts";
import {
  getSupportedProviders,
  PROVIDERS,
  type ProviderName,
} from "../../agent/models/providers/providers.ts";
import { issueReason, UNCOMPILED } from "../../base/json-schema/zod-mistakes.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { nearest } from "../../base/util/nearest.ts";
import { mergeSettings, withValue } from "./merge-settings.ts";
import { type Settings, type SettingsFile, settingsFileSchema } from "./settings-schema.ts";

export type EnvVariables = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly path: readonly string[];
  readonly read?: (text: string) => unknown;
}

function at(path: string, read?: Variable["read"]): Variable {
  return { path: path.split("."), ...(read && { read }) };
}

/** The setting of each variable. If two variables set the same one, the later wins. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  ...providerVariables(),
  OTEL_EXPORTER_OTLP_ENDPOINT: at("telemetry.endpoint"),
  LOG_LEVEL: at("logging.level"),
  KEYHOLE_PROVIDER: at("providers.default"),
  KEYHOLE_MODE: at("agent.mode"),
  KEYHOLE_MAX_STEPS: at("agent.maxSteps", toNumber),
  KEYHOLE_MAX_TOKENS: at("agent.maxTokens", toNumber),
  KEYHOLE_MAX_RUN_TOKENS: at("agent.maxRunTokens", toNumber),
  KEYHOLE_TEMPERATURE: at("agent.temperature", toDecimal),
  KEYHOLE_IDLE_TIMEOUT_MS: at("agent.idleTimeoutMs", toNumber),
  KEYHOLE_DATA_DIR: at("agent.dataDir"),
  KEYHOLE_MAX_RETRIES: at("retry.maxRetries", toNumber),
  KEYHOLE_TELEMETRY: at("telemetry.enabled", toBoolean),
  KEYHOLE_TELEMETRY_ENDPOINT: at("telemetry.endpoint"),
  KEYHOLE_TELEMETRY_ARGUMENTS: at("telemetry.arguments", toBoolean),
};
/** Names the model of the provider in use. */
const MODEL = "KEYHOLE_MODEL";
const PREFIX = "KEYHOLE_";
const SETTING_NAMES = [...Object.keys(VARIABLES), MODEL].filter((name) => name.startsWith(PREFIX));
const MOST_LETTERS_OFF = 2;

/**
 * Reads settings from variables. An empty variable counts as not set; one with a wrong value is left out and
 * reported. `below` are the settings of the files; `isChosen` says whether they choose a provider. If nobody does,
 * the first provider with a key is used.
 */
export function envSettings(env: EnvVariables, below: Pick<Settings, "providers">, isChosen: boolean) {
  const problems: Problem[] = [];
  /** The variables that count. */
  const names: string[] = [];
  let value: SettingsFile = {};
  const set = (name: string, { path, read }: Variable) => {
    const text = env[name];
    if (text === undefined || text.trim() === "") return;
    const next = withValue(value, path, read ? read(text) : text);
    const checked = settingsFileSchema.safeParse(next, UNCOMPILED);
    if (checked.success) {
      value = checked.data;
      names.push(name);
      return;
    }
    const [issue] = checked.error.issues;
    const reason = issue ? `it ${issueReason(issue)}` : "wrong value";
    problems.push(problem("VARIABLE_INVALID", { name, reason }));
  };
  for (const [name, variable] of Object.entries(VARIABLES)) set(name, variable);
  const given = mergeSettings(below.providers, value.providers ?? {});
  const found = isChosen || value.providers?.default ? undefined : providerWithKey(given);
  if (found) value = mergeSettings<SettingsFile>(value, { providers: { default: found } });
  const providers = found ? { ...given, default: found } : given;
  set(MODEL, { path: ["providers", ...modelPath(providers)] });
  return { value, problems: [...problems, ...misspelt(env)], names };
}

/** The first provider of the table with a key of its own. A token of GitHub is no sign that its models are wanted. */
function providerWithKey(providers: Settings["providers"]): ProviderName | undefined {
  return getSupportedProviders().find((name) => {
    const { apiKey } = (providers[name] ?? {}) as { readonly apiKey?: string };
    return apiKey !== undefined && apiKey.trim() !== "";
  });
}

/** Reversed, because the later variable wins and a provider lists the preferred one first. */
function providerVariables(): Record<string, Variable> {
  const found = Object.entries<Provider>(PROVIDERS).flatMap(([name, { env }]) =>
    Object.entries<readonly string[] | undefined>(env).flatMap(([field, variables = []]) =>
      variables.toReversed().map((variable) => [variable, at(`providers.${name}.${field}`)] as const),
    ),
  );
  return Object.fromEntries(found);
}

/** Variables with other meanings share the prefix, so only names close to a setting's are reported. */
function misspelt(env: EnvVariables): Problem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !SETTING_NAMES.includes(name))
    .flatMap((name) => {
      const said = name.slice(PREFIX.length);
      const known = SETTING_NAMES.map((setting) => setting.slice(PREFIX.length));
      const [meant] = nearest(said, known, 1);
      if (meant === undefined || Math.abs(meant.length - said.length) > MOST_LETTERS_OFF) return [];
      return [problem("VARIABLE_INVALID", { name, reason: `the nearest setting is ${PREFIX}${meant}` })];
    });
}

/** Anything but a number stays a text, which the schema refuses. */
function toNumber(text: string): unknown {
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : text;
}

function toDecimal(text: string): unknown {
  return /^\s*\d{1,3}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : text;
}

function toBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : text;
}
