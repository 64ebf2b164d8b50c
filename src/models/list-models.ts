import { createRedact } from "../util/redact.ts";
import { type Provider, readProviderConfig } from "./providers/define-provider.ts";
import { createModelFetch } from "./providers/model-fetch.ts";
import { failWith, type ModelResponse, successResponse } from "./providers/model-response.ts";
import type { ProviderHost } from "./providers/provider-host.ts";
import { isProviderSupported, PROVIDERS } from "./providers/providers.ts";
import { toErrorResponse } from "./to-error-response.ts";

const TIME_LIMIT_MS = 8_000;
const MOST_NAMES = 2_000;
const MOST_CHARS = 200;

/** Asks a provider for the names of its models, through the guarded fetch. Never throws. */
export async function listModels(
  name: string,
  given: unknown,
  host: Pick<ProviderHost, "env" | "clock">,
): Promise<ModelResponse<readonly string[]>> {
  const provider: Provider | undefined = isProviderSupported(name) ? PROVIDERS[name] : undefined;
  const parsed = provider && readProviderConfig(provider, given, host.env);
  const listing = parsed?.success ? provider?.listing?.(parsed.data) : undefined;
  if (!listing) {
    return failWith("PROVIDER_NOT_CONFIGURED", { name, reason: "it has no list of models without a key." });
  }
  const secrets = Object.values(listing.headers);
  try {
    const fetch = await createModelFetch({ name, idleMs: TIME_LIMIT_MS }, listing.ownUrl);
    const response = await fetch(listing.url, { headers: { ...listing.headers } });
    const text = await response.text();
    if (!response.ok)
      throw Object.assign(new Error(`HTTP ${response.status}`), { statusCode: response.status });
    const names = listing
      .namesIn(JSON.parse(text))
      .filter(({ length }) => length > 0 && length <= MOST_CHARS);
    return successResponse([...new Set(names)].slice(0, MOST_NAMES), `${name} has told its models.`);
  } catch (error) {
    return toErrorResponse(error, { provider: name, redact: createRedact(secrets), now: host.clock.now() });
  }
}
