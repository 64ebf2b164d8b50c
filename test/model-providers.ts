import type { ModelsConfig } from "../src/agent/models/models-config.ts";
import type { ProviderHost } from "../src/agent/models/providers/define-provider.ts";
import type { ProviderName } from "../src/agent/models/providers/providers.ts";

export interface ProviderCase {
  readonly name: ProviderName;
  /** Distinguishes the cases of one provider. */
  readonly variant: string;
  config(url: string): NonNullable<ModelsConfig["providers"]>;
  readonly path: string;
  readonly streamPath?: string;
  /** The header that must carry the secret. */
  readonly auth?: readonly [string, string];
  readonly host?: (url: string) => Partial<ProviderHost>;
}

/** Planted in every config and searched for in all output. */
export const SECRET = "sk-planted-0123456789";

const azureToken = JSON.stringify({ accessToken: SECRET, expires_on: 4_000_000_000 });

/** Every provider, in every mode. */
export const PROVIDER_CASES: readonly ProviderCase[] = [
  {
    name: "openai",
    variant: "responses",
    config: (url) => ({ openai: { apiKey: SECRET, baseUrl: `${url}/v1`, api: "responses" } }),
    path: "/v1/responses",
    auth: ["authorization", `Bearer ${SECRET}`],
  },
  {
    name: "openai",
    variant: "chat",
    config: (url) => ({ openai: { apiKey: SECRET, baseUrl: `${url}/v1` } }),
    path: "/v1/chat/completions",
    auth: ["authorization", `Bearer ${SECRET}`],
  },
  {
    name: "anthropic",
    variant: "messages",
    config: (url) => ({ anthropic: { apiKey: SECRET, baseUrl: `${url}/v1` } }),
    path: "/v1/messages",
    auth: ["x-api-key", SECRET],
  },
  {
    name: "azure",
    variant: "deployment",
    config: (url) => ({ azure: { endpoint: `${url}/`, deployment: "my-gpt", apiKey: SECRET } }),
    path: "/openai/deployments/my-gpt/chat/completions?api-version=2024-06-01",
    auth: ["api-key", SECRET],
  },
  {
    name: "azure",
    variant: "v1 with the Azure CLI",
    config: (url) => ({ azure: { endpoint: url, deployment: "my-gpt", apiVersion: "v1" } }),
    path: "/openai/v1/responses",
    auth: ["authorization", `Bearer ${SECRET}`],
    host: () => ({ run: async () => azureToken }),
  },
  {
    name: "foundry",
    variant: "cloud",
    config: (url) => ({ foundry: { mode: "cloud", projectEndpoint: url, apiKey: SECRET } }),
    path: "/openai/v1/chat/completions",
    auth: ["api-key", SECRET],
  },
  {
    name: "foundry",
    variant: "cloud with the Azure CLI",
    config: (url) => ({ foundry: { mode: "cloud", projectEndpoint: url } }),
    path: "/openai/v1/chat/completions",
    auth: ["authorization", `Bearer ${SECRET}`],
    host: () => ({ run: async () => azureToken }),
  },
  {
    name: "foundry",
    variant: "local",
    config: () => ({ foundry: { temperature: 0.5 } }),
    path: "/v1/chat/completions",
    host: (url) => ({ importFoundryLocal: async () => foundryLocal(url) }),
  },
  {
    name: "gemini",
    variant: "generateContent",
    config: (url) => ({ gemini: { apiKey: SECRET, baseUrl: `${url}/v1beta` } }),
    path: "/v1beta/models/gemini-4-argon:generateContent",
    streamPath: "/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse",
    auth: ["x-goog-api-key", SECRET],
  },
  {
    name: "github",
    variant: "personal",
    config: (url) => ({ github: { token: SECRET, endpoint: `${url}/inference` } }),
    path: "/inference/chat/completions",
    auth: ["authorization", `Bearer ${SECRET}`],
  },
  {
    name: "github",
    variant: "organization, token of the CLI",
    config: (url) => ({ github: { endpoint: `${url}/inference`, org: "acme" } }),
    path: "/orgs/acme/inference/chat/completions",
    auth: ["authorization", `Bearer ${SECRET}`],
    host: () => ({ run: async () => `${SECRET}\n` }),
  },
  {
    name: "local",
    variant: "no key",
    config: (url) => ({ local: { baseUrl: `${url}/v1/` } }),
    path: "/v1/chat/completions",
  },
];

/** Stands in for the Foundry Local SDK, which needs a native binary. */
export function foundryLocal(url: string) {
  let isRunning = false;
  let isLoaded = false;
  const model = {
    id: "phi-4-generic-cpu:1",
    isCached: true,
    isLoaded: async () => isLoaded,
    download: async () => {},
    load: async () => {
      isLoaded = true;
    },
  };
  const manager = {
    catalog: {
      getModel: async (alias: string) => (alias === "phi-4" ? model : Promise.reject(new Error("unknown"))),
    },
    get isWebServiceRunning() {
      return isRunning;
    },
    startWebService: () => {
      isRunning = true;
    },
    get urls() {
      return isRunning && isLoaded ? [url] : [];
    },
  };
  return { FoundryLocalManager: { createAsync: async () => manager } };
}
