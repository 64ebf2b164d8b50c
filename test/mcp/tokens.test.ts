import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { createGateway, defineDomain, defineTool, onEvent, type Principal } from "keyhole";
import { createMcpServer, type HttpServer, serveHttp } from "keyhole/mcp";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { OAuthOptions } from "../../src/faces/mcp/bearer.ts";
import { verifies } from "../claims.ts";
import { createShop } from "../shop.ts";

const issuer = "https://issuer.example";
const audience = "https://keyhole.example/mcp";
const right = await generateKeyPair("ES256", { extractable: true });
const wrong = await generateKeyPair("ES256");
const rsa = await generateKeyPair("RS256", { extractable: true });
const keys = {
  keys: [
    { ...(await exportJWK(right.publicKey)), kid: "one", alg: "ES256" },
    { ...(await exportJWK(rsa.publicKey)), kid: "rsa", alg: "RS256" },
  ],
};
const oauth: OAuthOptions = { issuer, audience, keys, algorithms: ["ES256"], requiredScopes: ["mcp"] };
const now = Math.floor(Date.now() / 1000);
const good: JWTPayload = { iss: issuer, aud: audience, sub: "ann", scope: "mcp audit", exp: now + 300 };

const sign = (claims: JWTPayload, header = { alg: "ES256", kid: "one" }, key = right.privateKey) =>
  new SignJWT(claims).setProtectedHeader(header).sign(key);
const without = (claim: keyof JWTPayload) => ({ ...good, [claim]: undefined });

let http: HttpServer;
let seen: (Principal | undefined)[];
let close: () => Promise<void>;

beforeAll(async () => {
  const server = createMcpServer(createGateway({ domains: createShop().domains }));
  seen = [];
  const watched: typeof server = {
    ...server,
    fetch: (request, caller) => {
      seen.push(caller?.principal);
      return server.fetch(request, caller);
    },
  };
  http = await serveHttp(watched, { oauth });
  close = async () => {
    await http.close();
    await server.close();
  };
});
afterAll(() => close());

describe("tokens", () => {
  const bad: Record<string, () => Promise<string> | string> = {
    "no algorithm": () => new UnsecuredJWT(good).encode(),
    "a shared secret for a key": () =>
      new SignJWT(good)
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .sign(new TextEncoder().encode("x".repeat(64))),
    "an algorithm that is not on the list": () => sign(good, { alg: "RS256", kid: "rsa" }, rsa.privateKey),
    "another audience": () => sign({ ...good, aud: "https://other.example/mcp" }),
    "no audience": () => sign(without("aud")),
    "another issuer": () => sign({ ...good, iss: "https://issuer.example.evil.example" }),
    "no issuer": () => sign(without("iss")),
    expired: () => sign({ ...good, exp: now - 120 }),
    "no expiry": () => sign(without("exp")),
    "not valid yet": () => sign({ ...good, nbf: now + 120 }),
    "another key": () => sign(good, undefined, wrong.privateKey),
    "an unknown key id": () => sign(good, { alg: "ES256", kid: "two" }),
    "no subject": () => sign(without("sub")),
    "an empty subject": () => sign({ ...good, sub: "" }),
    "a subject of spaces": () => sign({ ...good, sub: " \u00a0" }),
    "a changed claim": async () => {
      const [header, , signature] = (await sign(good)).split(".");
      const claims = Buffer.from(JSON.stringify({ ...good, scope: "mcp keyhole:write" })).toString(
        "base64url",
      );
      return `${header}.${claims}.${signature}`;
    },
    "no token at all": () => "garbage",
  };
  for (const [what, make] of Object.entries(bad)) {
    verifies("mcp:tokens", `refuses ${what}`, async () => {
      const { length } = seen;
      const response = await post(await make());
      expect(response.status).toBe(401);
      const challenge = response.headers.get("www-authenticate");
      expect(challenge).toContain('scope="mcp"');
      expect(challenge).toContain(
        'resource_metadata="https://keyhole.example/.well-known/oauth-protected-resource/mcp"',
      );
      expect(seen).toHaveLength(length);
    });
  }

  verifies("mcp:tokens", "refuses every token if the issuer's keys cannot be fetched", async () => {
    const server = createMcpServer(createGateway({ domains: [] }));
    const { keys: _, ...rest } = oauth;
    const down = await serveHttp(server, { oauth: { ...rest, jwksUri: "http://127.0.0.1:9/jwks" } });
    expect((await post(await sign(good), down.url)).status).toBe(401);
    await down.close();
    await server.close();
  });

  describe("with keys fetched from the issuer", () => {
    const serveKeys = async (answer: (path: string, response: ServerResponse) => void) => {
      const asked: string[] = [];
      const issuerKeys = createServer((request, response) => {
        asked.push(String(request.url));
        answer(String(request.url), response);
      });
      await new Promise<void>((resolve) => issuerKeys.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void issuerKeys.close());
      const origin = `http://127.0.0.1:${(issuerKeys.address() as AddressInfo).port}`;
      return { asked, origin, jwksUri: `${origin}/jwks` };
    };
    const statusWith = async (jwksUri: string): Promise<number> => {
      const server = createMcpServer(createGateway({ domains: [] }));
      const { keys: _, ...rest } = oauth;
      const own = await serveHttp(server, { oauth: { ...rest, jwksUri } });
      onTestFinished(async () => {
        await own.close();
        await server.close();
      });
      return (await post(await sign(good), own.url)).status;
    };
    const json = { "content-type": "application/json" };

    verifies("mcp:tokens", "accepts a token whose key is published at a private address", async () => {
      const { asked, jwksUri } = await serveKeys((_, response) =>
        response.writeHead(200, json).end(JSON.stringify(keys)),
      );
      expect(await statusWith(jwksUri)).toBe(200);
      expect(asked).toEqual(["/jwks"]);
    });

    verifies("mcp:tokens", "follows no redirect, neither to the same server nor to another", async () => {
      const far = await serveKeys((_, response) => response.writeHead(200, json).end(JSON.stringify(keys)));
      for (const target of ["/other", `${far.origin}/jwks`, "http://169.254.169.254/jwks"]) {
        const near = await serveKeys((path, response) => {
          if (path === "/jwks") response.writeHead(302, { location: target }).end();
          else response.writeHead(200, json).end(JSON.stringify(keys));
        });
        expect([target, await statusWith(near.jwksUri)]).toEqual([target, 401]);
        expect(near.asked).toEqual(["/jwks"]);
      }
      expect(far.asked).toEqual([]);
    });

    verifies("mcp:tokens", "refuses keys that come with megabytes of padding", async () => {
      const { jwksUri } = await serveKeys((_, response) =>
        response.writeHead(200, json).end(JSON.stringify({ ...keys, padding: "x".repeat(2 ** 21) })),
      );
      expect(await statusWith(jwksUri)).toBe(401);
    });
  });

  verifies("mcp:tokens", "turns a good one into a principal with its scopes", async () => {
    expect((await post(await sign(good))).status).toBe(200);
    expect(seen.at(-1)).toEqual({ id: `${issuer}#ann`, scopes: ["mcp", "audit"], allowWrite: false });
    await post(await sign({ ...good, scope: "mcp keyhole:write" }));
    expect(seen.at(-1)?.allowWrite).toBe(true);
    const lacking = await post(await sign({ ...good, scope: "audit" }));
    expect(lacking.status).toBe(403);
    expect(lacking.headers.get("www-authenticate")).toMatch(/insufficient_scope.*scope="mcp"/);
  });

  verifies("mcp:tokens", "keeps the token out of tools, answers and events", async () => {
    const seenByTool: string[] = [];
    const events: string[] = [];
    const spy = defineTool({
      name: "get_context",
      op: "spy.look",
      description: "Looks at all that it is given.",
      execute: (params, context) => {
        seenByTool.push(inspect({ params, context }, { depth: 12, showHidden: true }));
        return "looked";
      },
    });
    const gateway = createGateway({
      domains: [defineDomain({ name: "spy", description: "Spy.", tools: [spy] })],
    });
    const server = createMcpServer(gateway);
    const own = await serveHttp(server, { oauth });
    const stop = onEvent((event) => events.push(JSON.stringify(event)));
    const token = await sign(good);
    const call = { method: "tools/call", params: { name: "exec", arguments: { op: "spy.look" } } };
    const answer = await (await post(token, own.url, call)).text();
    stop();
    expect(answer).toContain("looked");
    expect(events.length).toBeGreaterThan(0);
    expect(seenByTool).toHaveLength(1);
    expect([answer, ...seenByTool, ...events].join()).not.toContain(token);
    await own.close();
    await server.close();
  });

  verifies("mcp:tokens", "names the issuer in its metadata", async () => {
    for (const path of [
      "/.well-known/oauth-protected-resource",
      "/.well-known/oauth-protected-resource/mcp",
    ]) {
      const response = await fetch(new URL(path, http.url));
      expect(await response.json()).toMatchObject({ resource: audience, authorization_servers: [issuer] });
    }
  });
});

function post(token: string, url = http.url, message: object = { method: "tools/list" }): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
}
