import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";
import { systemClock } from "../../base/util/clock.ts";
import { nearest } from "../../base/util/nearest.ts";
import { listModels } from "../models/create-model.ts";
import { modelPath, type ProviderSettings } from "../models/models-config.ts";
import { isModelNamed, MODEL_FACTS, modelFacts } from "../models/providers/model-facts.ts";
import {
  getSupportedProviders,
  isProviderSupported,
  PROVIDERS,
  type ProviderName,
  unknownProvider,
} from "../models/providers/providers.ts";
import type { Choice } from "../tui/chat-agent.ts";
import type { ChatParts } from "./chat-parts.ts";

/** A person who opens the list does not wait longer for a provider. */
const PATIENCE_MS = 4_000;

/** The models of all providers that have a key, as the providers list them now. */
export function createModelLists({
  providers,
  model,
  modelName,
}: Pick<ChatParts, "providers" | "model" | "modelName">) {
  const lists = new Map<string, Promise<readonly string[] | undefined>>();

  /** The provider's own list; undefined if it has none or does not answer. */
  function listOf(provider: string, settings: ProviderSettings): Promise<readonly string[] | undefined> {
    const kept = lists.get(provider);
    if (kept) return kept;
    const part: unknown = (settings as Readonly<Record<string, unknown>>)[provider];
    const asked = listModels(provider, part, { env: process.env, clock: systemClock }).then((answer) =>
      answer.success && answer.result.length > 0 ? answer.result : undefined,
    );
    const patient = Promise.race([asked, sleep(PATIENCE_MS, undefined, { ref: false })]).then((found) => {
      // A provider that was away is asked again the next time.
      if (!found) lists.delete(provider);
      return found;
    });
    lists.set(provider, patient);
    return patient;
  }

  return {
    /** The model in use, then the others, the best known first. */
    choices: async (): Promise<Choice[]> => {
      const settings = providers();
      const inUse = settings.default;
      const ready = [...new Set<string>([inUse, ...providersWithKeys(settings)])];
      const found = await Promise.all(ready.map((provider) => listOf(provider, settings)));
      const rows = ready.flatMap((provider, index) => {
        return modelNames(provider, found[index]).map((name) => toChoice(provider, name));
      });
      const current = { id: `${inUse}/${model() ?? ""}`, name: modelName(), text: "in use" };
      return [current, ...rows.filter(({ id }) => id !== current.id)];
    },
    /**
     * Checks a name against the list of its provider, if the provider has told one.
     * @throws MODEL_NOT_FOUND with the nearest name; PROVIDER_NOT_SUPPORTED
     */
    check: async (name: string): Promise<void> => {
      const [chosen, wanted] = chooseProvider(providers(), name);
      const listed = await listOf(chosen.default, chosen);
      if (!listed || isModelNamed(wanted, listed)) return;
      const [near] = nearest(wanted, listed, 1);
      const hint = near === undefined ? "" : ` Did you mean ${near}?`;
      throw problem("MODEL_NOT_FOUND", {
        name: chosen.default,
        reason: `it has no model ${wanted.slice(0, 100)}.${hint}`,
      });
    },
  };
}

/** The models of a provider, the best known first: those of its own list, if it is there. */
export function modelNames(provider: string, listed: readonly string[] | undefined): string[] {
  const known = MODEL_FACTS.filter((facts) => facts.provider === provider).map(({ name }) => name);
  const names = listed ? [...known.filter((name) => isModelNamed(name, listed)), ...listed] : known;
  return [...new Set(names)];
}

export function toChoice(provider: string, name: string, id = `${provider}/${name}`): Choice {
  const facts = modelFacts(name);
  const cost = facts?.price ? `, $${facts.price.input} in, $${facts.price.output} out` : "";
  return {
    id,
    name: `${provider} ${name}`,
    text: facts ? `${Math.round(facts.window / 1_000)}k tokens${cost}` : "",
  };
}

/** The same providers, with another model for the one in use. */
export function withModel(providers: ProviderSettings, model: string): ProviderSettings {
  const [provider, field] = modelPath(providers);
  return { ...providers, [provider]: { ...providers[providers.default], [field]: model } };
}

/**
 * The providers with another one in use, if the name has it in front (`anthropic/claude-sonnet-5`), and the model.
 *
 * @throws PROVIDER_NOT_SUPPORTED for a name whose provider does not exist, unless the one in use takes such names.
 */
export function chooseProvider(
  providers: ProviderSettings,
  name: string,
): [providers: ProviderSettings, model: string] {
  const [first = "", ...rest] = name.split("/");
  if (rest.length === 0) return [providers, name];
  if (isProviderSupported(first)) return [{ ...providers, default: first }, rest.join("/")];
  // Local and compatible servers name models with a slash.
  if (nearest(first, getSupportedProviders(), 1).length === 0) return [providers, name];
  throw problem("PROVIDER_NOT_SUPPORTED", unknownProvider(first));
}

/** The providers that have a key, in the settings or in a variable. */
export function providersWithKeys(
  providers: ProviderSettings,
  env: NodeJS.ProcessEnv = process.env,
): ProviderName[] {
  return getSupportedProviders().filter((name) => {
    const { apiKey = [] } = PROVIDERS[name].env as { readonly apiKey?: readonly string[] };
    const given = (providers[name] as { readonly apiKey?: string } | undefined)?.apiKey;
    return Boolean(given?.trim()) || apiKey.some((variable) => env[variable]?.trim());
  });
}

/** The variable that would hold the key of a provider, if it has none. */
export function missingKey(
  providers: ProviderSettings,
  provider: string,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (!isProviderSupported(provider) || providersWithKeys(providers, env).includes(provider))
    return undefined;
  return keyVariable(provider);
}

/** Whether a provider has no other login than a key, as Azure has. Those tell their models to holders of a key. */
export function needsKey(provider: string): boolean {
  return isProviderSupported(provider) && PROVIDERS[provider].listing !== undefined;
}

/** The variable that holds a provider's key. */
export function keyVariable(provider: ProviderName): string | undefined {
  return (PROVIDERS[provider].env as { readonly apiKey?: readonly string[] }).apiKey?.[0];
}

/** A provider's name by OpenTelemetry's conventions. */
export function telemetryName(provider: string): string {
  return isProviderSupported(provider) ? PROVIDERS[provider].telemetryName : provider;
}
