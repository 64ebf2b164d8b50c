import { problem } from "../../../base/problems/problem.ts";
import { notConfigured, type ProviderContext, type ProviderHost } from "./define-provider.ts";

const RENEW_BEFORE_MS = 5 * 60_000;
/** Used when the CLI does not say when the token expires. */
const ASSUMED_LIFE_MS = 10 * 60_000;

/** The token of the GitHub CLI; undefined if it is missing or not logged in. */
export async function githubCliToken({ run }: ProviderHost): Promise<string | undefined> {
  return (await run("gh", ["auth", "token"]))?.trim() || undefined;
}

/** A key, or the tokens of the Azure CLI in its place. */
interface AzureCredentials {
  /** @throws AUTHENTICATION_ERROR if the CLI gives no token. */
  token(): Promise<string>;
  /** The key, or every token so far, to keep them out of messages. */
  secrets(): readonly string[];
}

/**
 * The key of a config, or tokens of the Azure CLI for a resource, each used until shortly before it expires.
 *
 * @throws PROVIDER_NOT_CONFIGURED if there is neither.
 */
export async function azureCredentials(
  apiKey: string | undefined,
  { resource, keys }: { readonly resource: string; readonly keys: string },
  { name, run, clock }: ProviderContext,
): Promise<AzureCredentials> {
  const args = ["account", "get-access-token", "--resource", resource, "--output", "json"];
  const issued = new Set<string>(apiKey ? [apiKey] : []);
  let held: { readonly token: string; readonly until: number } | undefined;

  async function current(): Promise<string | undefined> {
    if (held && clock.now() < held.until) return held.token;
    held = parse(await run("az", args), clock.now());
    if (held) issued.add(held.token);
    return held?.token;
  }

  if (!apiKey && !(await current()))
    throw notConfigured(name, `set ${keys}, or log in with the Azure CLI (az login).`);
  return {
    secrets: () => [...issued],
    token: async () => {
      const token = await current();
      if (token !== undefined) return token;
      throw problem("AUTHENTICATION_ERROR", {
        name: "The Azure CLI",
        reason: "it gives no token. Log in with az login.",
      });
    },
  };
}

function parse(printed: string | undefined, now: number): { token: string; until: number } | undefined {
  try {
    const { accessToken, expires_on } = JSON.parse(printed ?? "") as Record<string, unknown>;
    if (typeof accessToken !== "string" || accessToken === "") return undefined;
    const ends = typeof expires_on === "number" ? expires_on * 1000 : now + ASSUMED_LIFE_MS;
    return { token: accessToken, until: ends - RENEW_BEFORE_MS };
  } catch {
    return undefined;
  }
}
