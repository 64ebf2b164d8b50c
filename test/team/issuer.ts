import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from "jose";
import Provider, { type Context, interactionPolicy } from "oidc-provider";

/** Somebody who can log in at the issuer. */
export interface TestPerson {
  readonly groups: readonly string[];
}

export interface IssuerOptions {
  /** People by their subject. Default: ada (group sre) and bob (group sales). */
  readonly people?: Readonly<Record<string, TestPerson>>;
  /** Clients that need no registration, in the words of RFC 7591 (`client_id`, `redirect_uris`, …). */
  readonly clients?: readonly Readonly<Record<string, unknown>>[];
  /** Seconds that access tokens live. Default: 600. */
  readonly lifetime?: number;
}

/** An OpenID Connect issuer of `oidc-provider`, on this machine. */
export interface Issuer {
  /** The exact `iss` of its tokens. */
  readonly url: string;
  /** Logs a person in without a browser: follows an authorization URL and returns the address it is sent back to. */
  login(authorizationUrl: URL | string, person: string): Promise<URL>;
  /** Gets an access token of a person for an audience by registration, code and PKCE, as a client does. */
  accessToken(person: string, audience: string, scope?: string): Promise<string>;
  /** Signs any claims with the issuer's key, `iss` and times included unless the claims have them. */
  sign(claims: JWTPayload, header?: { readonly kid?: string }): Promise<string>;
  /** The public keys as they are published now. */
  publicKeys(): { keys: JWK[] };
  /** Replaces the signing key; the old one is no longer published. Registered clients and people stay. */
  rotate(): Promise<void>;
  /** The paths that were requested so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

const PEOPLE = { ada: { groups: ["sre"] }, bob: { groups: ["sales"] } };
/** The scopes that any audience has here. */
const SCOPES = "keyhole:read keyhole:write read write";
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  const people: Readonly<Record<string, TestPerson>> = options.people ?? PEOPLE;
  const requests: string[] = [];
  const adapter = memoryAdapter();
  let count = 0;
  let key: JWK = {};
  let provider: Provider;
  let answer: ReturnType<Provider["callback"]>;

  const http = createServer((request, response) => {
    requests.push(request.url?.split("?", 1)[0] ?? "");
    if (request.url?.startsWith("/interaction/")) void interact(request, response);
    else answer(request, response);
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  async function rotate(): Promise<void> {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    count += 1;
    key = { ...(await exportJWK(privateKey)), kid: `key-${count}`, alg: "RS256", use: "sig" };
    provider = new Provider(url, configurationOf(options, people, key, adapter));
    provider.registerGrantType(EXCHANGE, exchange, [
      "subject_token",
      "subject_token_type",
      "audience",
      "scope",
    ]);
    answer = provider.callback();
  }

  /** The login page: a link for each person. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const person = new URL(request.url ?? "", url).searchParams.get("person");
    if (person !== null && Object.hasOwn(people, person)) {
      return provider.interactionFinished(request, response, {
        login: { accountId: person },
        consent: {},
      });
    }
    const links = Object.keys(people).map((name) => `<p><a href="?person=${name}">Log in as ${name}</a></p>`);
    response.writeHead(200, { "content-type": "text/html" }).end(links.join(""));
  }

  /** RFC 8693: a token of this issuer for another audience. */
  async function exchange(ctx: Context): Promise<void> {
    const { subject_token = "", audience = "", scope } = ctx.oidc.params;
    const subject = await jwtVerify(subject_token, createLocalJWKSet(publicKeys()), { issuer: url }).catch(
      () => undefined,
    );
    if (!subject?.payload.sub || audience === "") {
      ctx.status = 400;
      ctx.body = { error: "invalid_request" };
      return;
    }
    const token = new provider.AccessToken({
      accountId: subject.payload.sub,
      client: ctx.oidc.client,
      gty: "token_exchange",
      scope,
    });
    token.resourceServer = new provider.ResourceServer(audience, resourceOf(audience, options));
    const accessToken = await token.save();
    ctx.body = {
      access_token: accessToken,
      issued_token_type: ACCESS_TOKEN,
      token_type: "Bearer",
      expires_in: token.expiration,
    };
  }

  function publicKeys(): { keys: JWK[] } {
    const { kty, n, e, kid, alg, use } = key;
    return { keys: [{ kty, n, e, kid, alg, use } as JWK] };
  }

  await rotate();
  return {
    url,
    requests,
    rotate,
    publicKeys,
    login,
    accessToken: (person, audience, scope) => accessTokenOf(url, person, audience, scope),
    sign: (claims, header) =>
      new SignJWT({ iss: url, ...claims })
        .setProtectedHeader({ alg: "RS256", kid: header?.kid ?? key.kid ?? "", typ: "at+jwt" })
        .setIssuedAt(claims.iat)
        .setExpirationTime(claims.exp ?? "10m")
        .sign(key),
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

function resourceOf(audience: string, { lifetime = 600 }: IssuerOptions): Record<string, unknown> {
  return { scope: SCOPES, audience, accessTokenFormat: "jwt", accessTokenTTL: lifetime };
}

function configurationOf(
  options: IssuerOptions,
  people: Readonly<Record<string, TestPerson>>,
  key: JWK,
  adapter: unknown,
): Record<string, unknown> {
  const groupsOf = (person: string) => people[person]?.groups ?? [];
  const policy = interactionPolicy.base();
  // Clients that ask for consent get it: nobody has to agree to anything.
  policy.get("consent").checks.clear();
  return {
    adapter,
    jwks: { keys: [key] },
    clients: options.clients ?? [],
    cookies: { keys: ["of the test issuer"] },
    claims: { openid: ["sub", "groups"] },
    conformIdTokenClaims: false,
    scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
    interactions: { policy, url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: Context, sub: string) =>
      Object.hasOwn(people, sub) && {
        accountId: sub,
        claims: () => ({ sub, groups: groupsOf(sub) }),
      },
    extraTokenClaims: (_: Context, { accountId }: { accountId?: string }) =>
      accountId === undefined ? undefined : { groups: groupsOf(accountId) },
    loadExistingGrant: grantAll,
    issueRefreshToken: (_: Context, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    ttl: {
      AccessToken: options.lifetime ?? 600,
      Interaction: 600,
      Grant: 3_600,
      Session: 3_600,
      RefreshToken: 3_600,
      IdToken: 600,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: Context, audience: string) => resourceOf(audience, options),
      },
    },
  };
}

/** Nobody is asked for consent: every client gets what it asks for. */
async function grantAll({ oidc }: Context): Promise<unknown> {
  const { provider, client, session, params } = oidc;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  const scope = params.scope ?? "";
  grant.addOIDCScope(scope);
  if (params.resource) grant.addResourceScope(params.resource, scope);
  await grant.save();
  return grant;
}

/** Follows redirects with cookies, chooses the person on the login page, and stops where a client would go on. */
async function login(authorizationUrl: URL | string, person: string): Promise<URL> {
  const { origin } = new URL(authorizationUrl);
  const cookies = new Map<string, string>();
  let next = new URL(authorizationUrl);
  while (next.origin === origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = response.headers.get("location");
    const text = await response.text();
    if (location !== null) next = new URL(location, next);
    else if (response.ok && !next.search) next = new URL(`?person=${person}`, next);
    else throw new Error(`The issuer refused at ${next.pathname}: ${response.status} ${text}`);
  }
  return next;
}

async function accessTokenOf(
  issuer: string,
  person: string,
  audience: string,
  scope = SCOPES,
): Promise<string> {
  const redirect = "http://127.0.0.1:1/callback";
  const { client_id } = await post(`${issuer}/reg`, {
    redirect_uris: [redirect],
    token_endpoint_auth_method: "none",
  });
  const verifier = "a-verifier-that-is-long-enough-for-the-rules-of-pkce";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    client_id,
    response_type: "code",
    redirect_uri: redirect,
    scope,
    resource: audience,
    code_challenge: Buffer.from(digest).toString("base64url"),
    code_challenge_method: "S256",
  });
  const back = await login(`${issuer}/auth?${query}`, person);
  const { access_token } = await post(
    `${issuer}/token`,
    new URLSearchParams({
      grant_type: "authorization_code",
      code: back.searchParams.get("code") ?? "",
      redirect_uri: redirect,
      client_id,
      code_verifier: verifier,
    }),
  );
  return access_token;
}

async function post(
  url: string,
  body: URLSearchParams | object,
): Promise<{ client_id: string; access_token: string }> {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(url, {
    method: "POST",
    body: isForm ? body : JSON.stringify(body),
    headers: isForm ? {} : { "content-type": "application/json" },
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { client_id: string; access_token: string };
}

/** Keeps what the provider stores. It outlives a rotation of keys, which makes a new provider. */
function memoryAdapter() {
  const records = new Map<string, Record<string, unknown>>();
  return (model: string) => {
    const find = (field: string, value: string) =>
      [...records].find(([key, record]) => key.startsWith(`${model}:`) && record[field] === value)?.[1];
    return {
      upsert: async (id: string, payload: Record<string, unknown>) =>
        void records.set(`${model}:${id}`, payload),
      find: async (id: string) => records.get(`${model}:${id}`),
      findByUid: async (uid: string) => find("uid", uid),
      findByUserCode: async (code: string) => find("userCode", code),
      consume: async (id: string) => {
        const record = records.get(`${model}:${id}`);
        if (record) record.consumed = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id: string) => void records.delete(`${model}:${id}`),
      revokeByGrantId: async (grantId: string) => {
        for (const [key, { grantId: of }] of records) if (of === grantId) records.delete(key);
      },
    };
  };
}
