import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { jwtVerify } from "jose";
import { z } from "zod";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { isSameSecret } from "../../base/safety/same-secret.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { LOGIN_PATH as SERVERS_PATH } from "../../sources/mcp/login/login-links.ts";
import { ALGORITHMS } from "../mcp/bearer.ts";
import type { HttpRoute } from "../mcp/http-routes.ts";
import { createIssuer, type Issuer, type IssuerMetadata } from "../mcp/issuer.ts";
import type { IssuerOptions } from "../mcp/issuer-options.ts";
import { CONSOLE_PATH } from "./console-files.ts";
import { cookieName, type createVisits, readCookie, secret } from "./console-sessions.ts";

/** The claims about a person that a session keeps. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** Opens the console by a login at an OpenID Connect issuer, in place of one-time links. */
export interface ConsoleLogin extends IssuerOptions {
  /** The client of the console at the issuer. Its redirect URI is `origin` followed by `/console/callback`. */
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The public origin of the console. */
  readonly origin: string;
  readonly scopes: readonly string[];
  /** The names of the claims that decide about rights. Sessions keep no others. */
  readonly claims: readonly string[];
  /** The person with these claims, asked with every request. @throws a problem for people without rights. */
  toPrincipal(claims: PersonClaims): Principal;
}

/** The path at which a person logs in. */
export const LOGIN_PATH = `${CONSOLE_PATH}login`;
const CALLBACK_PATH = `${CONSOLE_PATH}callback`;
const COOKIE = "keyhole_login";
const LOGIN_S = 600;
const CLOCK_TOLERANCE_S = 5;

const TO_SERVERS = new RegExp(`^${SERVERS_PATH}(?:/callback)?\\?[^#]*$`);

/** One login on its way, which only the browser keeps: any gateway of several can finish it. */
const pendingSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The page of a login to a server that the person came from. */
  to: z.string().regex(TO_SERVERS).exactOptional(),
});
type Pending = z.infer<typeof pendingSchema>;

/** Leads a person to show who they are before they use a page of theirs. */
export function toConsoleLogin({ url = "" }: IncomingMessage): Response {
  return redirect(`${LOGIN_PATH}?${new URLSearchParams({ to: url })}`);
}

/**
 * Begins logins, and opens a session for people who come back from the issuer with rights; or a visit, for those who
 * came from the page of a login to a server.
 */
export function consoleLoginRoutes(
  login: ConsoleLogin,
  open: (claims: PersonClaims, host: string) => Promise<{ half: string; cookie: string }>,
  visit: ReturnType<typeof createVisits>["open"],
): HttpRoute[] {
  const issuer = createIssuer(login);
  const begin: HttpRoute["handle"] = async ({ request }) => {
    const { authorization_endpoint: endpoint } = await issuer.metadata();
    if (endpoint === undefined) throw notLoggedIn("the issuer has no page to log in");
    const to = new URL(request.url ?? "", login.origin).searchParams.get("to") ?? "";
    const secrets = { state: secret(), nonce: secret(), verifier: secret() };
    const pending = { ...secrets, ...(TO_SERVERS.test(to) && { to }) };
    const name = cookieName(request.headers.host ?? "", COOKIE);
    return redirect(authorizationUrl(login, endpoint, pending), [
      `${name}=${Buffer.from(JSON.stringify(pending)).toString("base64url")}; Path=${CONSOLE_PATH}`,
      `HttpOnly; SameSite=Lax; Max-Age=${LOGIN_S}${secureOf(login)}`,
    ]);
  };
  const finish: HttpRoute["handle"] = async ({ request }) => {
    const { cookie, host = "" } = request.headers;
    const answer = new URL(request.url ?? "", login.origin).searchParams;
    const pending = readPending(readCookie(cookie, cookieName(host, COOKIE)));
    if (!pending || !isSameSecret(answer.get("state") ?? "", pending.state))
      throw notLoggedIn("this login was not begun in this browser, or is too old");
    const claims = await claimsOf(login, issuer, answer, pending);
    // Asks for the rights once more with every request; people without any get no session.
    login.toPrincipal(claims);
    if (pending.to !== undefined)
      return redirect(pending.to, [`${await visit(claims, host, SERVERS_PATH)}${secureOf(login)}`]);
    const session = await open(claims, host);
    return redirect(`${CONSOLE_PATH}#/in/${session.half}`, [`${session.cookie}${secureOf(login)}`]);
  };
  const guarded =
    (handle: HttpRoute["handle"]): HttpRoute["handle"] =>
    async (exchange) => {
      try {
        return await handle(exchange);
      } catch (error) {
        return refuse(login, isProblem(error) ? `${error.message} ${error.next}` : reasonOf(error));
      }
    };
  return [
    { method: "GET", path: LOGIN_PATH, open: true, handle: guarded(begin) },
    { method: "GET", path: CALLBACK_PATH, open: true, handle: guarded(finish) },
  ];
}

function authorizationUrl(
  { clientId, scopes, origin }: ConsoleLogin,
  endpoint: string,
  pending: Pending,
): string {
  const url = new URL(endpoint);
  const query = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: `${origin}${CALLBACK_PATH}`,
    scope: [...new Set(["openid", ...scopes])].join(" "),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** Exchanges the code for an ID token that was made for this login, and reads the claims that a session keeps. */
async function claimsOf(
  login: ConsoleLogin,
  issuer: Issuer,
  answer: URLSearchParams,
  { nonce, verifier }: Pending,
): Promise<PersonClaims> {
  const code = answer.get("code");
  const from = answer.get("iss");
  if (from !== null && from !== login.issuer) throw notLoggedIn("another issuer has answered");
  if (code === null) throw notLoggedIn(`the issuer says ${toVisibleLine(answer.get("error") ?? "")}`);
  const idToken = await exchangeCode(login, issuer, code, verifier);
  const { payload } = await jwtVerify(idToken, issuer.keys, {
    issuer: login.issuer,
    audience: login.clientId,
    algorithms: [...ALGORITHMS],
    clockTolerance: CLOCK_TOLERANCE_S,
    requiredClaims: ["exp", "sub", "nonce"],
  }).catch(() => {
    throw notLoggedIn("the answer of the issuer is not valid");
  });
  const isForOthers = Array.isArray(payload.aud) && payload.aud.length > 1 && payload.azp !== login.clientId;
  if (payload.nonce !== nonce || isForOthers)
    throw notLoggedIn("the answer of the issuer belongs to another login");
  return Object.fromEntries(
    login.claims.filter((name) => Object.hasOwn(payload, name)).map((name) => [name, payload[name]]),
  );
}

const tokenSchema = z.object({ id_token: z.string() });

async function exchangeCode(
  login: ConsoleLogin,
  issuer: Issuer,
  code: string,
  verifier: string,
): Promise<string> {
  const metadata = await issuer.metadata();
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: `${login.origin}${CALLBACK_PATH}`,
    code_verifier: verifier,
  });
  const response = await issuer.send(metadata.token_endpoint ?? login.issuer, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...authenticate(login, metadata, form) },
    body: form.toString(),
  });
  const parsed = tokenSchema.safeParse(response.ok ? await response.json() : undefined);
  if (!parsed.success) throw notLoggedIn(`the issuer refused the console with status ${response.status}`);
  return parsed.data.id_token;
}

/** Names the client to the issuer: in the header, or in the form where the issuer reads only that. */
function authenticate(
  { clientId, clientSecret }: ConsoleLogin,
  { token_endpoint_auth_methods_supported: methods }: IssuerMetadata,
  form: URLSearchParams,
): Record<string, string> {
  if (clientSecret !== undefined && (methods?.includes("client_secret_basic") ?? true)) {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(":");
    return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
  }
  form.set("client_id", clientId);
  if (clientSecret !== undefined) form.set("client_secret", clientSecret);
  return {};
}

function readPending(text: string | undefined): Pending | undefined {
  try {
    return pendingSchema.parse(JSON.parse(Buffer.from(text ?? "", "base64url").toString()));
  } catch {
    return undefined;
  }
}

/** Behind a proxy with TLS, browsers send cookies nowhere else. */
function secureOf({ origin }: ConsoleLogin): string {
  return origin.startsWith("https:") ? "; Secure" : "";
}

function redirect(location: string, cookie: readonly string[] = []): Response {
  const set = cookie.length > 0 && { "set-cookie": cookie.join("; ") };
  const headers = { location, ...set, "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

function notLoggedIn(reason: string) {
  return problem("NOT_LOGGED_IN", { reason });
}

function refuse({ origin }: ConsoleLogin, reason: string): Response {
  const text = `${toVisibleLine(reason)}\n\nThe login: ${origin}${LOGIN_PATH}\n`;
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  return new Response(text, { status: 403, headers });
}
