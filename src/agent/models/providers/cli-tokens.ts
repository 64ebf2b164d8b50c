import { problem } from "../../../base/problems/problem.ts";
import type { ProviderHost } from "./define-provider.ts";

const RENEW_BEFORE_MS = 5 * 60_000;
/** Used when the CLI does not say when the token expires. */
const ASSUMED_LIFE_MS = 10 * 60_000;

/** The token of the GitHub CLI; undefined if it is missing or not logged in. */
export async function githubCliToken({ run }: ProviderHost): Promise<string | undefined> {
  return (await run("gh", ["auth", "token"]))?.trim() || undefined;
}

export interface CliTokens {
  /** A token that stays valid for some minutes; undefined if the CLI is missing or not logged in. */
  current(): Promise<string | undefined>;
  /** @throws AUTHENTICATION_ERROR if the CLI gives no token. */
  required(): Promise<string>;
  /** Every token so far, to keep them out of messages. */
  readonly issued: ReadonlySet<string>;
}

/** Tokens of the Azure CLI for a resource. Each is used until shortly before it expires. */
export function azureCliTokens(resource: string, { run, clock }: ProviderHost): CliTokens {
  const args = ["account", "get-access-token", "--resource", resource, "--output", "json"];
  const issued = new Set<string>();
  let held: { readonly token: string; readonly until: number } | undefined;
  async function current(): Promise<string | undefined> {
    if (held && clock.now() < held.until) return held.token;
    held = parse(await run("az", args), clock.now());
    if (held) issued.add(held.token);
    return held?.token;
  }
  return {
    issued,
    current,
    required: async () => {
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
