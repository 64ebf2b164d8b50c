import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { providersWithKeys } from "../../agent/chat/model-lists.ts";
import { listModels } from "../../agent/models/create-model.ts";
import { modelOf } from "../../agent/models/providers/define-provider.ts";
import { isModelNamed, MODEL_FACTS } from "../../agent/models/providers/model-facts.ts";
import {
  getSupportedProviders,
  PROVIDERS,
  type ProviderName,
} from "../../agent/models/providers/providers.ts";
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

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

interface FirstRunOptions extends Terminal {
  readonly file: string;
  readonly secrets: Pick<Secrets, "set">;
  readonly env?: NodeJS.ProcessEnv;
}

const MOST_SHOWN = 20;

/**
 * Asks for a provider, its key and a model of the provider's list. Keeps the key among the secrets and the rest in a
 * file that only its owner can read. Returns false if the person leaves without an answer.
 */
export async function firstRun(options: FirstRunOptions): Promise<boolean> {
  const { file, secrets, env = process.env } = options;
  const { ask, say, close } = openDialogue(options);

  /** Undefined if the person leaves. A word that is no provider is asked again. */
  async function askProvider(names: readonly ProviderName[]): Promise<ProviderName | undefined> {
    while (true) {
      const said = await ask("Provider: ");
      const provider = said && choose(names, said);
      if (!said || provider) return provider || undefined;
      const [near] = nearest(said.toLowerCase(), names, 1);
      say(
        `${toVisibleLine(said)} is no provider.${near ? ` Did you mean ${near}?` : ""} Type a name or a number up to ${names.length}.`,
      );
    }
  }

  /** The key and the provider's list; undefined if the person leaves. A key that the provider refuses is asked again. */
  async function askKey(provider: ProviderName): Promise<Keyed | undefined> {
    const [variable] = (PROVIDERS[provider].env as { readonly apiKey?: readonly string[] }).apiKey ?? [];
    while (true) {
      const key = variable && (await ask(`Key (not shown; ${variable} works too): `, { isHidden: true }));
      if (variable !== undefined) say("");
      if (variable !== undefined && !key) return undefined;
      const listed = await listModels(provider, key ? { apiKey: key } : {}, { env, clock: systemClock });
      if (listed.success) return { key, listed: listed.result };
      if (listed.error !== "AUTHENTICATION_ERROR") return { key, failure: listed.message };
      say(`${provider} refuses this key.`);
    }
  }

  async function askModel(provider: ProviderName, { listed, failure }: Keyed): Promise<string | undefined> {
    const known = MODEL_FACTS.filter((facts) => facts.provider === provider).map(({ name }) => name);
    if (failure !== undefined) say(`The list of models could not be read: ${toVisibleLine(failure)}`);
    const models = listed ? [...known.filter((name) => listed.includes(name)), ...listed] : known;
    const shown = [...new Set(models)].slice(0, MOST_SHOWN);
    for (const [index, name] of shown.entries()) say(`  ${index + 1}  ${toVisibleLine(name)}`);
    if (models.length > shown.length)
      say(`  Any other name of the provider's ${listed?.length} models works too.`);
    const usual = modelOf(PROVIDERS[provider], {});
    while (true) {
      const said = await ask(`Model${usual === undefined ? "" : ` (empty: ${usual})`}: `);
      if (said === undefined) return undefined;
      const model = choose(shown, said) ?? said;
      if (model === "" || !listed || isModelNamed(model, listed)) return model;
      const [near] = nearest(model, listed, 1);
      say(
        `${provider} has no model ${toVisibleLine(model)}.${near ? ` Did you mean ${toVisibleLine(near)}?` : ""}`,
      );
    }
  }

  try {
    say("No model provider is set up yet. Choose one; an empty line leaves.");
    const names = getSupportedProviders().filter((name) => name !== "custom");
    for (const [index, name] of names.entries()) say(`  ${index + 1}  ${name}`);
    const provider = await askProvider(names);
    if (!provider) return false;
    const keyed = await askKey(provider);
    if (!keyed) return false;
    const model = await askModel(provider, keyed);
    if (model === undefined) return false;
    await saveSetting("providers.default", provider, { file });
    if (keyed.key) {
      const place = await secrets.set(provider, keyed.key);
      await saveSetting(
        `providers.${provider}.apiKey`,
        `\${${place === "keychain" ? "keychain" : "secret"}:${provider}}`,
        { file },
      );
      say(
        place === "keychain"
          ? `The key is in the system's keychain, as ${provider}.`
          : "The system has no keychain that can be used, so the key is in a file that only you can read.",
      );
    }
    const field = PROVIDERS[provider].modelField({} as never);
    if (model) await saveSetting(`providers.${provider}.${field}`, model, { file });
    say(`Saved in ${file}, which only you can read. /model changes the model, keyhole secrets the key.`);
    return true;
  } finally {
    close();
  }
}

interface Keyed {
  readonly key: string | undefined;
  /** The provider's own list. */
  readonly listed?: readonly string[];
  /** Why there is none. */
  readonly failure?: string;
}

/** Questions and answers in a terminal. A closed input answers undefined. */
function openDialogue({ input, output }: Terminal) {
  let isHidden = false;
  // A key is typed without an echo.
  const echo = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHidden) output.write(String(chunk));
      done();
    },
  });
  const reader = createInterface({ input, output: echo, terminal: true });
  const left = new Promise<undefined>((resolve) => reader.once("close", () => resolve(undefined)));
  return {
    ask: async (question: string, hidden = { isHidden: false }): Promise<string | undefined> => {
      const asked = Promise.race([reader.question(question), left]);
      isHidden = hidden.isHidden;
      const said = (await asked)?.trim();
      isHidden = false;
      return said;
    },
    say: (line: string) => void output.write(`${line}\n`),
    close: () => reader.close(),
  };
}

/** The entry of that number or name. */
function choose<T extends string>(names: readonly T[], said: string | undefined): T | undefined {
  return names[Number(said) - 1] ?? names.find((name) => name === said?.toLowerCase());
}
