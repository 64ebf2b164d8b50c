import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { LoadedSettings } from "../config/load-settings.ts";
import { saveSetting } from "../config/save-setting.ts";
import { MODEL_FACTS } from "../models/model-facts.ts";
import { modelOf } from "../models/providers/define-provider.ts";
import { getSupportedProviders, PROVIDERS } from "../models/providers/providers.ts";
import { providersWithKeys } from "./provider-in-use.ts";

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

/**
 * Asks for a provider, its key and a model, and saves them in a file that only its owner can read. Returns false if
 * the person leaves without an answer.
 */
export async function firstRun(file: string, { input, output }: Terminal): Promise<boolean> {
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
  const ask = async (question: string): Promise<string | undefined> =>
    (await Promise.race([reader.question(question), left]))?.trim();
  const say = (line: string) => void output.write(`${line}\n`);

  try {
    say("No model provider is set up yet. Choose one; an empty line leaves.");
    const names = getSupportedProviders();
    for (const [index, name] of names.entries()) say(`  ${index + 1}  ${name}`);
    const provider = choose(names, await ask("Provider: "));
    if (!provider) return false;
    const [variable] = (PROVIDERS[provider].env as { readonly apiKey?: readonly string[] }).apiKey ?? [];
    let key: string | undefined;
    if (variable !== undefined) {
      const asked = ask(`Key (not shown; ${variable} works too): `);
      isHidden = true;
      key = await asked;
      isHidden = false;
      say("");
      if (!key) return false;
    }
    const models = MODEL_FACTS.filter((facts) => facts.provider === provider).map(({ name }) => name);
    for (const [index, name] of models.entries()) say(`  ${index + 1}  ${name}`);
    const usual = modelOf(PROVIDERS[provider], {});
    const said = await ask(`Model${usual === undefined ? "" : ` (empty: ${usual})`}: `);
    if (said === undefined) return false;
    const model = choose(models, said) ?? said;
    await saveSetting("providers.default", provider, { file });
    if (key) await saveSetting(`providers.${provider}.apiKey`, key, { file });
    const field = PROVIDERS[provider].modelField({} as never);
    if (model) await saveSetting(`providers.${provider}.${field}`, model, { file });
    say(`Saved in ${file}, which only you can read. /model changes the model.`);
    return true;
  } finally {
    reader.close();
  }
}

/** The entry of that number or name. */
function choose<T extends string>(names: readonly T[], said: string | undefined): T | undefined {
  return names[Number(said) - 1] ?? names.find((name) => name === said?.toLowerCase());
}
