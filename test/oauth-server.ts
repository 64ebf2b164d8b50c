import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** An authorization server and a protected MCP server on one port, with every request recorded. */
export interface OAuthServer {
  readonly url: string;
  readonly origin: string;
  readonly seen: {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly authorization: string | undefined;
  }[];
  /** The token requests of a grant type. */
  tokenRequests(grant: string): number;
  /** Overrides the published metadata and the answer of `/authorize`. */
  metadata: Record<string, unknown>;
  answer: Record<string, string>;
  resourceMetadataUrl: string | undefined;
  /** The scope that a token must have. */
  scope: string;
  expiresIn: number;
  /** Revokes all access tokens issued so far. */
  revoke(): void;
  /** Revokes all refresh tokens issued so far. */
  end(): void;
  close(): void;
}

type Handler = (request: Request) => Promise<Response>;

export async function serveOAuth(mcp: Handler): Promise<OAuthServer> {
  const access = new Map<string, string>();
  const refreshes = new Map<string, string>();
  const codes = new Map<string, { challenge: string; scope: string; redirect: string }>();
  const clients = new Map<string, string[]>();
  const seen: OAuthServer["seen"] = [];
  const http = createServer((request, response) => void route(request, response));
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const state: OAuthServer = {
    url: `${origin}/mcp`,
    origin,
    seen,
    tokenRequests: (grant) =>
      seen.filter(
        ({ path, body }) => path === "/token" && new URLSearchParams(body).get("grant_type") === grant,
      ).length,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    },
    answer: { iss: origin },
    resourceMetadataUrl: undefined,
    scope: "read",
    expiresIn: 3600,
    revoke: () => access.clear(),
    end: () => refreshes.clear(),
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  };
  return state;

  function give(scope: string, refreshable: boolean): object {
    const token = `access-${randomUUID()}`;
    access.set(token, scope);
    const refresh = `refresh-${randomUUID()}`;
    if (refreshable) refreshes.set(refresh, scope);
    return {
      access_token: token,
      token_type: "Bearer",
      expires_in: state.expiresIn,
      scope,
      ...(refreshable && { refresh_token: refresh }),
    };
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const body = await text(request);
    const url = new URL(request.url ?? "/", origin);
    const { authorization } = request.headers;
    seen.push({ method: request.method ?? "", path: url.pathname, body, authorization });
    const json = (status: number, value: unknown, headers = {}): unknown =>
      void response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(value));
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return json(200, { resource: state.url, authorization_servers: [origin] });
    }
    if (url.pathname === "/.well-known/oauth-authorization-server") return json(200, state.metadata);
    if (url.pathname === "/register") {
      const id = `client-${clients.size}`;
      const asked = JSON.parse(body) as { redirect_uris: string[] };
      clients.set(id, asked.redirect_uris);
      return json(201, { ...asked, client_id: id });
    }
    if (url.pathname === "/authorize") {
      const code = randomUUID();
      const query = url.searchParams;
      const redirect = query.get("redirect_uri") ?? "";
      codes.set(code, {
        challenge: query.get("code_challenge") ?? "",
        scope: query.get("scope") ?? "read",
        redirect,
      });
      const back = new URL(redirect);
      const given = { code, state: query.get("state") ?? "", ...state.answer };
      for (const [name, value] of Object.entries(given)) back.searchParams.set(name, value);
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === "/token") return token(new URLSearchParams(body), json);
    const bearer = authorization?.replace("Bearer ", "") ?? "";
    const scopes = access.get(bearer)?.split(" ");
    const about = state.resourceMetadataUrl ? `, resource_metadata="${state.resourceMetadataUrl}"` : "";
    const challenge = (error: string) => ({
      "www-authenticate": `Bearer error="${error}", scope="${state.scope}"${about}`,
    });
    if (!scopes) return json(401, {}, challenge("invalid_token"));
    if (!scopes.includes(state.scope)) return json(403, {}, challenge("insufficient_scope"));
    const answer = await mcp(
      new Request(url, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(body && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }

  function token(form: URLSearchParams, json: (status: number, value: unknown) => unknown): unknown {
    const grant = form.get("grant_type");
    if (grant === "client_credentials") return json(200, give(form.get("scope") ?? "read", false));
    if (grant === "refresh_token") {
      const old = form.get("refresh_token") ?? "";
      const scope = refreshes.get(old);
      refreshes.delete(old);
      return scope === undefined ? json(400, { error: "invalid_grant" }) : json(200, give(scope, true));
    }
    const kept = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verified = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!kept || kept.challenge !== verified || kept.redirect !== form.get("redirect_uri")) {
      return json(400, { error: "invalid_grant" });
    }
    return json(200, give(kept.scope, true));
  }
}
