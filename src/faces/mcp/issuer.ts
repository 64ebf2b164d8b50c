import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import { z } from "zod";
import type { GuardedRequest } from "../../base/net/dialler.ts";
import { createGuardedFetch } from "../../base/net/guarded-fetch.ts";
import { readBytes } from "../../base/net/read-response.ts";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { IssuerOptions } from "./issuer-options.ts";

const metadataSchema = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  authorization_endpoint: z.url().optional(),
  token_endpoint: z.url().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});

/** The facts that an issuer publishes about itself, as far as they are used here. */
export type IssuerMetadata = z.infer<typeof metadataSchema>;

/** An issuer of tokens: what it publishes, and its keys of now. */
export interface Issuer {
  /** Reads what the issuer publishes, once. @throws ISSUER_UNUSABLE */
  metadata(): Promise<IssuerMetadata>;
  /** Finds the key of a token. An unknown key is looked for at the issuer, at most every two seconds. */
  readonly keys: JWTVerifyGetKey;
  /** Sends a request to the issuer, whose own host may be private, and reads the whole answer. */
  send(url: string, request?: GuardedRequest): Promise<Response>;
}

const MAX_BYTES = 2 ** 20;
const TIMEOUT_MS = 5_000;
/** How long an unknown key or a failed request is not asked for again. */
const PAUSE_MS = 2_000;

/** Creates an issuer. Nothing is requested before the first token comes. */
export function createIssuer({ issuer, jwksUri, keys }: IssuerOptions): Issuer {
  const guarded = createGuardedFetch({ ownUrl: jwksUri ?? issuer, redirects: "none" });
  const send: Issuer["send"] = async (url, request = {}) => {
    const response = await guarded(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...request });
    const bytes = await readBytes(response, "the issuer", MAX_BYTES);
    return new Response(bytes.length > 0 ? bytes : null, { status: response.status });
  };
  const metadata = afterPause(() => discover(issuer, send));
  const remote = afterPause(async () =>
    createRemoteJWKSet(new URL(jwksUri ?? (await metadata()).jwks_uri), {
      cooldownDuration: PAUSE_MS,
      [customFetch]: keyFetch(send),
    }),
  );
  const local = keys && createLocalJWKSet(keys as JSONWebKeySet);
  return { metadata, send, keys: local ?? (async (header, token) => (await remote())(header, token)) };
}

/** Both places where an issuer may publish itself; its path stands at the end of one and in the middle of none. */
function discoveryUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** @throws ISSUER_UNUSABLE */
async function discover(issuer: string, send: Issuer["send"]): Promise<IssuerMetadata> {
  const unusable = (reason: string) => problem("ISSUER_UNUSABLE", { issuer, reason });
  for (const url of discoveryUrls(issuer)) {
    const response = await send(url, { headers: { accept: "application/json" } }).catch((error: unknown) => {
      throw unusable(isProblem(error) ? error.message.replace(/\.$/, "") : reasonOf(error));
    });
    if (response.status !== 200) continue;
    const parsed = metadataSchema.safeParse(await response.json().catch(() => undefined));
    if (!parsed.success) throw unusable(`${url} is not the metadata of an issuer`);
    // Another issuer's metadata would bring another issuer's keys.
    if (parsed.data.issuer !== issuer) throw unusable(`${url} calls itself ${parsed.data.issuer}`);
    return parsed.data;
  }
  throw unusable("it publishes no metadata");
}

/** Fetches keys. After a failure, further requests fail at once for a while: strangers must not cause a request each. */
function keyFetch(send: Issuer["send"]): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, { headers, signal }) => {
    if (Date.now() - failedAt < PAUSE_MS) return new Response(null, { status: 503 });
    failedAt = Date.now();
    const response = await send(url, { headers: Object.fromEntries(headers), signal });
    if (response.ok) failedAt = Number.NEGATIVE_INFINITY;
    return response;
  };
}

/** Does work once. After a failure it is done again, but not before the pause is over. */
function afterPause<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  return () => {
    if (last) return last;
    const current = work();
    last = current;
    current.catch(() => {
      setTimeout(() => {
        last = undefined;
      }, PAUSE_MS).unref();
    });
    return current;
  };
}
