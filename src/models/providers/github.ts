import { githubCliToken } from "../cli-tokens.ts";
import { createCompatibleModel } from "../compatible-model.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory, withoutEndSlash } from "../provider.ts";

const ENDPOINT = "https://models.github.ai/inference";

export const createGitHubModel: ProviderFactory<"github"> = async (config, surroundings) => {
  const token =
    firstFilled(config.token, surroundings.env.GITHUB_TOKEN) ?? (await githubCliToken(surroundings));
  if (!token) {
    return notConfigured(
      "github",
      "set providers.github.token or GITHUB_TOKEN, or log in with the GitHub CLI (gh auth login).",
    );
  }
  const name = MODEL_NAMES.github(config);
  const baseUrl = endpointOf(firstFilled(config.endpoint) ?? ENDPOINT, firstFilled(config.org));
  const model = await createCompatibleModel({ provider: "github", baseUrl, model: name, apiKey: token });
  return successResponse({ model, secrets: () => [token] }, `${name} on GitHub Models is ready.`);
};

/** An organization's requests count against its own limits, on a path of its own. */
function endpointOf(endpoint: string, org: string | undefined): string {
  const root = withoutEndSlash(endpoint);
  if (!org) return root;
  return `${root.replace(/\/inference$/, "")}/orgs/${encodeURIComponent(org)}/inference`;
}
