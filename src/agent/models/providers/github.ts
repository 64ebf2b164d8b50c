import { z } from "zod";
import { githubCliToken } from "./cli-tokens.ts";
import { defineProvider, notConfigured, pathPart, text, url } from "./define-provider.ts";
import { bearer, createCompatibleModel, withoutEndSlash } from "./model-fetch.ts";

const ENDPOINT = "https://models.github.ai/inference";

export const github = defineProvider({
  config: z.strictObject({ token: text, model: text, endpoint: url, org: pathPart }),
  env: { token: ["GITHUB_TOKEN"] },
  modelField: () => "model",
  defaultModel: () => "gpt-4o-mini",
  serverUrl: ({ endpoint = ENDPOINT }) => endpoint,
  listing: ({ token, endpoint }) =>
    token && {
      url: new URL("/catalog/models", endpoint ?? ENDPOINT).href,
      headers: bearer(token),
      ownUrl: endpoint,
    },
  telemetryName: "github",
  package: "@ai-sdk/openai-compatible",
  create: async ({ token, endpoint = ENDPOINT, org }, context) => {
    const apiKey = token ?? (await githubCliToken(context));
    if (!apiKey) {
      throw notConfigured(
        context.name,
        "set providers.github.token or GITHUB_TOKEN, or log in with the GitHub CLI (gh auth login).",
      );
    }
    const model = await createCompatibleModel({ baseUrl: endpointOf(endpoint, org), apiKey }, context);
    return { model, secrets: () => [apiKey] };
  },
});

/** An organization's requests count against its own limits, on a path of its own. */
function endpointOf(endpoint: string, org: string | undefined): string {
  const root = withoutEndSlash(endpoint);
  if (!org) return root;
  return `${root.replace(/\/inference$/, "")}/orgs/${encodeURIComponent(org)}/inference`;
}
