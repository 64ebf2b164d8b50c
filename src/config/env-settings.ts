import { type Problem, problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { issueReason } from "./read-settings-file.ts";
import { type SettingsFile, settingsFileSchema } from "./settings-schema.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly path: readonly string[];
  readonly read?: (text: string) => unknown;
}

const at = (path: string, read?: Variable["read"]): Variable => ({
  path: path.split("."),
  ...(read && { read }),
});

/** Which variable stands for which setting; of two for one setting, the later counts. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  OPENAI_API_KEY: at("providers.openai.apiKey"),
  OPENAI_BASE_URL: at("providers.openai.baseUrl"),
  ANTHROPIC_API_KEY: at("providers.anthropic.apiKey"),
  AZURE_OPENAI_API_KEY: at("providers.azure.apiKey"),
  AZURE_OPENAI_ENDPOINT: at("providers.azure.endpoint"),
  AZURE_FOUNDRY_API_KEY: at("providers.foundry.apiKey"),
  GEMINI_API_KEY: at("providers.gemini.apiKey"),
  GOOGLE_API_KEY: at("providers.gemini.apiKey"),
  GITHUB_TOKEN: at("providers.github.token"),
  OTEL_EXPORTER_OTLP_ENDPOINT: at("telemetry.endpoint"),
  LOG_LEVEL: at("logging.level"),
  KEYHOLE_PROVIDER: at("providers.default"),
  KEYHOLE_MODE: at("agent.mode"),
  KEYHOLE_MAX_STEPS: at("agent.maxSteps", toNumber),
  KEYHOLE_MAX_TOKENS: at("agent.maxTokens", toNumber),
  KEYHOLE_DATA_DIR: at("agent.dataDir"),
  KEYHOLE_MAX_RETRIES: at("retry.maxRetries", toNumber),
  KEYHOLE_TELEMETRY: at("telemetry.enabled", toBoolean),
  KEYHOLE_TELEMETRY_ENDPOINT: at("telemetry.endpoint"),
  KEYHOLE_TELEMETRY_ARGUMENTS: at("telemetry.arguments", toBoolean),
};
/** The model of whichever provider is used. */
const MODEL = "KEYHOLE_MODEL";
const MODEL_FIELD: Readonly<Record<string, string>> = {
  azure: "deployment",
  foundry: "modelDeployment",
};
const SETTING_NAMES = [...Object.keys(VARIABLES), MODEL].filter((name) => name.startsWith("KEYHOLE_"));

export interface EnvSettings {
  readonly value: SettingsFile;
  readonly problems: readonly Problem[];
  /** The variables that were taken. */
  readonly names: readonly string[];
}

/** What the environment sets. A variable with a wrong value is left out and told; an empty one is not set. */
export function envSettings(
  env: Variables,
  below: { readonly providers: { readonly default: string } },
): EnvSettings {
  const problems: Problem[] = [];
  const names: string[] = [];
  let value: SettingsFile = {};
  const set = (name: string, { path, read }: Variable) => {
    const text = env[name];
    if (text === undefined || text.trim() === "") return;
    const next = withValue(value, path, read ? read(text) : text);
    const checked = settingsFileSchema.safeParse(next);
    if (checked.success) {
      value = checked.data;
      names.push(name);
      return;
    }
    const [issue] = checked.error.issues;
    problems.push(problem("VARIABLE_INVALID", { name, reason: issue ? issueReason(issue) : "it is wrong" }));
  };
  for (const [name, variable] of Object.entries(VARIABLES)) set(name, variable);
  const provider = value.providers?.default ?? below.providers.default;
  set(MODEL, { path: ["providers", provider, MODEL_FIELD[provider] ?? "model"] });
  return { value, problems: [...problems, ...misspelt(env)], names };
}

/** Other variables of that prefix have other meanings, so only what is near a setting's name is told. */
function misspelt(env: Variables): Problem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith("KEYHOLE_") && !SETTING_NAMES.includes(name))
    .flatMap((name) => {
      const [meant] = nearest(
        name.slice(8),
        SETTING_NAMES.map((known) => known.slice(8)),
        1,
      );
      const isNear = meant !== undefined && Math.abs(meant.length - (name.length - 8)) <= 2;
      if (!isNear) return [];
      return [problem("VARIABLE_INVALID", { name, reason: `it may be meant as KEYHOLE_${meant}` })];
    });
}

function withValue(holder: object, [key, ...rest]: readonly string[], value: unknown): object {
  if (key === undefined) return holder;
  const inner = (holder as Record<string, object | undefined>)[key] ?? {};
  return { ...holder, [key]: rest.length === 0 ? value : withValue(inner, rest, value) };
}

/** What is no number stays a text, which the schema refuses. */
function toNumber(text: string): unknown {
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : text;
}

function toBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : text;
}
