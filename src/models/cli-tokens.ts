import { problem } from "../schema/problem.ts";
import { firstFilled, type Surroundings } from "./provider.ts";

const RENEW_BEFORE_MS = 5 * 60_000;
/** For answers that do not say when their token ends. */
const ASSUMED_LIFE_MS = 10 * 60_000;

/** The token that the GitHub CLI is logged in with. */
export async function githubCliToken({ run }: Surroundings): Promise<string | undefined> {
  return firstFilled(await run("gh", ["auth", "token"]));
}

export interface CliTokens {
  /** A token that is good for some minutes yet; undefined if the CLI is absent or not logged in. */
  current(): Promise<string | undefined>;
  /** As `current`; a problem if there is none. */
  required(): Promise<string>;
  /** All that were given out, to keep them out of messages. */
  readonly issued: ReadonlySet<string>;
}

/** Tokens for a resource from the Azure CLI, each used until shortly before it ends. */
export function azureCliTokens(resource: string, { run, clock }: Surroundings): CliTokens {
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
      const reason = "the Azure CLI gives no token; log in with az login.";
      throw problem("MODEL_FAILED", { provider: "Azure", reason }, { code: "AUTHENTICATION_ERROR" });
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
