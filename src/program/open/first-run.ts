import { keyVariable, modelNames, providersWithKeys, toChoice } from "../../agent/chat/model-lists.ts";
import { listModels } from "../../agent/models/create-model.ts";
import { isModelNamed } from "../../agent/models/providers/model-facts.ts";
import {
  getSupportedProviders,
  PROVIDERS,
  type ProviderName,
} from "../../agent/models/providers/providers.ts";
import type { Dialogue } from "../../agent/tui/dialogue.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { systemClock } from "../../base/util/clock.ts";
import { nearest } from "../../base/util/nearest.ts";
import type { LoadedSettings } from "./load-settings.ts";
import { saveSetting } from "./save-setting.ts";
import type { Secrets } from "./secrets.ts";

/** Whether nobody has chosen a provider yet: not by a file, a variable or a key. */
export function isFirstRun(
  { sources, settings }: Pick<LoadedSettings, "sources" | "settings">,
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  const isChosen = sources.some(({ value }) => value?.providers !== undefined);
  return (
    !isChosen && !env.KEYHOLE_PROVIDER?.trim() && providersWithKeys(settings.providers, env).length === 0
  );
}

interface FirstRunOptions {
  readonly dialogue: Dialogue;
  readonly file: string;
  readonly secrets: Pick<Secrets, "set">;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Asks for a provider, its key and a model of the provider's list. Keeps the key among the secrets and the rest in a
 * file that only its owner can read. Returns false if the person leaves without an answer.
 */
export async function firstRun({
  dialogue,
  file,
  secrets,
  env = process.env,
}: FirstRunOptions): Promise<boolean> {
  const { say } = dialogue;
  const provider = await askProvider(dialogue);
  if (!provider) return false;
  const keyed = await askKey(provider, dialogue, env);
  if (!keyed) return false;
  const model = await askModel(provider, keyed, dialogue);
  if (model === undefined) return false;
  await saveSetting("providers.default", provider, { file });
  if (keyed.key) say(await keepKey(provider, keyed.key, { file, secrets }));
  const field = PROVIDERS[provider].modelField({} as never);
  await saveSetting(`providers.${provider}.${field}`, model, { file });
  say(`Saved in ${file}, which only you can read. /model changes the model, keyhole secrets the key.`);
  return true;
}

/** Keeps a provider's key among the secrets, and its name in the settings. Returns a sentence about the place. */
export async function keepKey(
  provider: string,
  key: string,
  { file, secrets }: Pick<FirstRunOptions, "file" | "secrets">,
): Promise<string> {
  const place = await secrets.set(provider, key);
  const reference = `\${${place === "keychain" ? "keychain" : "secret"}:${provider}}`;
  await saveSetting(`providers.${provider}.apiKey`, reference, { file });
  return place === "keychain"
    ? `The key is in the system's keychain, as ${provider}.`
    : "The system has no keychain that can be used, so the key is in a file that only you can read.";
}

async function askProvider({ say, pick }: Dialogue): Promise<ProviderName | undefined> {
  const names = getSupportedProviders().filter((name) => name !== "custom");
  say("No model provider is set up yet. Choose one; Esc leaves.");
  const chosen = await pick(
    "Provider:",
    names.map((name) => ({ id: name, name, text: keyVariable(name) ?? "" })),
  );
  if (chosen !== undefined) say(`Provider: ${chosen}`);
  return chosen as ProviderName | undefined;
}

/** The key and the provider's list; undefined if the person leaves. A key that the provider refuses is asked again. */
async function askKey(
  provider: ProviderName,
  { say, ask }: Dialogue,
  env: NodeJS.ProcessEnv,
): Promise<Keyed | undefined> {
  const variable = keyVariable(provider);
  while (true) {
    const about = `It is not shown. The variable ${variable} works too.`;
    const key = variable && (await ask({ title: `Key of ${provider}:`, about, isSecret: true }));
    if (variable !== undefined && !key) return undefined;
    const listed = await listModels(provider, key ? { apiKey: key } : {}, { env, clock: systemClock });
    if (listed.success) return { key, listed: listed.result };
    if (listed.error !== "AUTHENTICATION_ERROR") return { key, failure: listed.message };
    say(`${provider} refuses this key.`);
  }
}

/** A name that the provider does not list is asked again, with the nearest. */
async function askModel(
  provider: ProviderName,
  { listed, failure }: Keyed,
  { say, pick, ask }: Dialogue,
): Promise<string | undefined> {
  if (failure !== undefined) say(`The list of models could not be read: ${toVisibleLine(failure)}`);
  const names = modelNames(provider, listed);
  if (names.length > 0) {
    const other = { id: OTHER, name: "another model", text: "by its name" };
    const chosen = await pick("Model:", [...names.map((name) => toChoice(provider, name, name)), other]);
    if (chosen !== OTHER) return chosen;
  }
  while (true) {
    const model = await ask({ title: `Model of ${provider}:` });
    if (model === undefined || !listed || isModelNamed(model, listed)) return model;
    const [near] = nearest(model, listed, 1);
    const hint = near ? ` Did you mean ${toVisibleLine(near)}?` : "";
    say(`${provider} has no model ${toVisibleLine(model)}.${hint}`);
  }
}

/** The choice that is no model. */
const OTHER = "";

interface Keyed {
  readonly key: string | undefined;
  /** The provider's own list. */
  readonly listed?: readonly string[];
  /** Why there is none. */
  readonly failure?: string;
}
