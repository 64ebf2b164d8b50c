import { problem } from "../../base/problems/problem.ts";
import {
  loadPackage,
  modelOf,
  notConfigured,
  type Provider,
  type ProviderHost,
  type ReadyModel,
  readProviderConfig,
} from "./providers/define-provider.ts";
import { type ModelResponse, toErrorResponse, toModelProblem } from "./providers/model-errors.ts";
import { createModelFetch, namesIn } from "./providers/model-fetch.ts";
import { isProviderSupported, PROVIDERS, unknownProvider } from "./providers/providers.ts";

/**
 * Makes a provider's model from its part of a config.
 *
 * @throws a {@link ModelProblem}
 */
export async function createModel(name: string, part: unknown, host: ProviderHost): Promise<ReadyModel> {
  if (!isProviderSupported(name)) throw problem("PROVIDER_NOT_SUPPORTED", unknownProvider(name));
  const provider: Provider = PROVIDERS[name];
  const parsed = readProviderConfig(provider, part, host.env);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) =>
      [path.join("."), message].filter(Boolean).join(": "),
    );
    throw notConfigured(name, `${faults.join("; ")}.`);
  }
  const config = parsed.data;
  const model = modelOf(provider, config);
  if (model === undefined) {
    const field = provider.modelField(config);
    throw notConfigured(name, `set providers.${name}.${field}, the name of the model.`);
  }
  const load = <T>(importPackage: () => Promise<T>) =>
    loadPackage(provider.package, `The provider ${name}`, importPackage);
  try {
    return await provider.create(config, { ...host, name, model, load });
  } catch (error) {
    const secrets = Object.values(config).filter((value) => typeof value === "string");
    throw toModelProblem(error, { provider: name, secrets, now: host.clock.now() });
  }
}

const TIME_LIMIT_MS = 8_000;
const MOST_NAMES = 2_000;
const MOST_CHARS = 200;

/** Asks a provider for the names of its models, through the guarded fetch. Never throws. */
export async function listModels(
  name: string,
  part: unknown,
  { env, clock }: Pick<ProviderHost, "env" | "clock">,
): Promise<ModelResponse<readonly string[]>> {
  const { provider, config } = readPart(name, part, env) ?? {};
  const listing = config && provider?.listing?.(config);
  if (!listing) return toErrorResponse(notConfigured(name, "it has no list of models without a key."));
  try {
    const fetch = await createModelFetch({ name, idleMs: TIME_LIMIT_MS }, listing.ownUrl);
    const response = await fetch(listing.url, { headers: { ...listing.headers } });
    const body = await response.text();
    if (!response.ok)
      throw Object.assign(new Error(`HTTP ${response.status}`), { statusCode: response.status });
    const names = (listing.namesIn ?? namesIn)(JSON.parse(body));
    const short = names.filter(({ length }) => length > 0 && length <= MOST_CHARS);
    return {
      success: true,
      result: [...new Set(short)].slice(0, MOST_NAMES),
      message: `${name} has listed its models.`,
    };
  } catch (error) {
    const secrets = Object.values(listing.headers);
    return toErrorResponse(toModelProblem(error, { provider: name, secrets, now: clock.now() }));
  }
}

/** The address of the server that a provider's part of a config leads to. */
export function serverUrlOf(name: string, part: unknown, env: ProviderHost["env"]): string | undefined {
  const { provider, config } = readPart(name, part, env) ?? {};
  return config && provider?.serverUrl(config);
}

/** The model that a provider's part of a config names, or its default; undefined if the part is invalid. */
export function modelNameOf(name: string, part: unknown): string | undefined {
  const { provider, config } = readPart(name, part, {}) ?? {};
  return provider && config && modelOf(provider, config);
}

function readPart(name: string, part: unknown, env: ProviderHost["env"]) {
  if (!isProviderSupported(name)) return undefined;
  const provider: Provider = PROVIDERS[name];
  return { provider, config: readProviderConfig(provider, part, env).data };
}
