import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { createGateway, type Principal } from "keyhole";
import { createMcpServer, type HttpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/faces/mcp/serve-http.ts";
import { readPeople, toOAuth } from "../../src/program/open/people.ts";
import { createShop } from "../shop.ts";
import { type Issuer, startIssuer } from "../team/issuer.ts";

const AUDIENCE = "https://tools.example.com/mcp";
const GROUPS = { sre: { write: true, admin: true }, sales: { scopes: ["crm"] } };
const now = () => Math.floor(Date.now() / 1_000);
const ADA: JWTPayload = { aud: AUDIENCE, sub: "ada", groups: ["sre"] };

interface Front {
  readonly issuer: Issuer;
  readonly http: HttpServer;
  /** The callers that got past the check. */
  readonly seen: Principal[];
  /** The status of a request with a token, at the address of a profile if one is named. */
  send(token: string, profile?: string): Promise<Response>;
}

/** A gateway with the people of an issuer, as `keyhole serve --http` makes it from a config. */
async function open(fields: object = {}, given?: Issuer): Promise<Front> {
  const issuer = given ?? (await startIssuer());
  if (!given) onTestFinished(() => issuer.close());
  const people = readPeople(
    { issuer: issuer.url, audience: AUDIENCE, groups: GROUPS, ...fields },
    "team.json",
    {},
  );
  const gateway = createGateway({ domains: createShop().domains });
  const server = createMcpServer(gateway);
  const seen: Principal[] = [];
  const watched: typeof server = {
    ...server,
    fetch: (request, caller) => {
      if (caller?.principal) seen.push(caller.principal);
      return server.fetch(request, caller);
    },
  };
  const profiles = {
    names: () => ["ops"],
    open: async () => ({ gateway, server: watched, allowWrite: true }),
  };
  const mount = { routes: () => [], authenticate: async () => undefined, profiles };
  const http = await listen(watched, { oauth: toOAuth(people!) }, mount);
  onTestFinished(async () => {
    await http.close();
    await server.close();
    await gateway.close();
  });
  return {
    issuer,
    http,
    seen,
    send: (token, profile) =>
      fetch(profile === undefined ? http.url : `${http.url}/p/${profile}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      }),
  };
}

/** A token with the claims of the right issuer that its key has not signed as it should. */
type Forge = (issuer: Issuer) => Promise<string> | string;

const FORGED: Readonly<Record<string, Forge>> = {
  "for another audience": ({ sign }) => sign({ ...ADA, aud: "https://other.example.com/mcp" }),
  "for an audience that begins alike": ({ sign }) => sign({ ...ADA, aud: `${AUDIENCE}.evil.example` }),
  "for the same audience with a slash": ({ sign }) => sign({ ...ADA, aud: `${AUDIENCE}/` }),
  "for a profile's address alone": ({ sign }) => sign({ ...ADA, aud: `${AUDIENCE}/p/ops` }),
  "for nobody": ({ sign }) => sign({ sub: "ada", groups: ["sre"] }),
  "that has expired": ({ sign }) => sign({ ...ADA, exp: now() - 60 }),
  "that is not valid yet": ({ sign }) => sign({ ...ADA, nbf: now() + 60 }),
  "of another issuer by its own words": ({ sign }) => sign({ ...ADA, iss: "https://evil.example" }),
  "of an issuer with a slash more": ({ url, sign }) => sign({ ...ADA, iss: `${url}/` }),
  "without a subject": ({ sign }) => sign({ aud: AUDIENCE, groups: ["sre"] }),
  "with an empty subject": ({ sign }) => sign({ ...ADA, sub: "" }),
  "with a subject of spaces": ({ sign }) => sign({ ...ADA, sub: " \u00a0" }),
  "with an endless subject": ({ sign }) => sign({ ...ADA, sub: "a".repeat(10_000) }),
  "without a signature (alg: none)": ({ url }) =>
    new UnsecuredJWT({ ...ADA, iss: url, exp: now() + 600 }).encode(),
  "signed with the public key as a shared secret (HS256, PEM)": async (issuer) => {
    const [key] = issuer.publicKeys().keys;
    const pem = await exportSPKI((await importJWK(key!, "RS256")) as CryptoKey);
    return hs256(issuer, new TextEncoder().encode(pem));
  },
  "signed with the public key as a shared secret (HS256, modulus)": (issuer) =>
    hs256(issuer, Buffer.from(issuer.publicKeys().keys[0]!.n!, "base64url")),
};

function hs256({ url, publicKeys }: Issuer, secret: Uint8Array): Promise<string> {
  return new SignJWT({ ...ADA, iss: url, exp: now() + 600 })
    .setProtectedHeader({ alg: "HS256", kid: publicKeys().keys[0]!.kid! })
    .sign(secret);
}

describe("tokens of people", () => {
  test.each(Object.entries(FORGED))("T1: a token %s is refused, with where to log in", async (_, forge) => {
    const { issuer, send, seen } = await open();
    const response = await send(await forge(issuer));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain(
      'resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"',
    );
    expect(seen).toEqual([]);
    expect((await send(await issuer.sign(ADA))).status).toBe(200);
  });

  test("T1, T3: a token of another issuer is refused, also under the name and key id of the right one", async () => {
    const { issuer, send, seen } = await open();
    const other = await startIssuer();
    onTestFinished(() => other.close());
    expect(other.publicKeys().keys[0]!.kid).toBe(issuer.publicKeys().keys[0]!.kid);
    expect((await send(await other.accessToken("ada", AUDIENCE))).status).toBe(401);
    expect((await send(await other.sign({ ...ADA, iss: issuer.url }))).status).toBe(401);
    expect(seen).toEqual([]);
  });

  test("T1: the same subject at two issuers is two people", async () => {
    const [one, two] = [await open(), await open()];
    for (const { issuer, send } of [one, two]) expect((await send(await issuer.sign(ADA))).status).toBe(200);
    expect(one.seen.map(({ id }) => id)).toEqual([`${one.issuer.url}#ada`]);
    expect(two.seen.map(({ id }) => id)).toEqual([`${two.issuer.url}#ada`]);
  });

  test("T1, people:keys: after a rotation the new key counts without a restart, and the old one no more", async () => {
    const { issuer, send } = await open();
    const old = await issuer.accessToken("ada", AUDIENCE);
    expect((await send(old)).status).toBe(200);
    await issuer.rotate();
    const fresh = await issuer.accessToken("ada", AUDIENCE);
    await expect.poll(async () => (await send(fresh)).status, { timeout: 20_000 }).toBe(200);
    expect((await send(old)).status).toBe(401);
  });

  test("T17, people:keys: tokens with made-up key ids do not make the gateway ask the issuer for each", async () => {
    const { issuer, send } = await open();
    expect((await send(await issuer.sign(ADA))).status).toBe(200);
    const asked = () => issuer.requests.filter((path) => path === "/jwks").length;
    const before = asked();
    const statuses = Array.from({ length: 50 }, async (_, index) =>
      send(await issuer.sign(ADA, { kid: `k${index}` })),
    );
    expect(new Set((await Promise.all(statuses)).map(({ status }) => status))).toEqual(new Set([401]));
    expect(asked() - before).toBeLessThanOrEqual(2);
  });

  test("T1: a token for the address of a profile works there alone, one for the gateway at each", async () => {
    const { issuer, send } = await open();
    const narrow = await issuer.accessToken("ada", `${AUDIENCE}/p/ops`);
    expect((await send(narrow, "ops")).status).toBe(200);
    expect((await send(narrow, "crm")).status).toBe(401);
    expect((await send(narrow)).status).toBe(401);
    expect((await send(await issuer.accessToken("ada", AUDIENCE), "ops")).status).toBe(200);
  });

  test("clocks may differ by the tolerance", async () => {
    const { issuer, send } = await open({ clockTolerance: 30 });
    expect((await send(await issuer.sign({ ...ADA, exp: now() - 10 }))).status).toBe(200);
    expect((await send(await issuer.sign({ ...ADA, exp: now() - 60 }))).status).toBe(401);
  });
});

describe("groups of people", () => {
  const NO_LISTS = ["sre", { sre: true }, ["sre", 7], [["sre"]], null, 7].map(
    (groups) => [JSON.stringify(groups), groups] as const,
  );
  test.each(NO_LISTS)(
    "T12, people:groups: a claim of groups that is %s gives no rights",
    async (_, groups) => {
      const { issuer, send, seen } = await open({ groups: { ...GROUPS, "*": {} } });
      const response = await send(await issuer.sign({ ...ADA, groups }));
      expect([response.status, await response.text()]).toEqual([
        403,
        expect.stringContaining("no list of texts"),
      ]);
      expect(seen).toEqual([]);
    },
  );

  test("T12, people:groups: people of no listed group are refused in words, and no login is asked for", async () => {
    const { issuer, send } = await open();
    for (const groups of [[], ["SRE"], ["*"], ["constructor", "__proto__"], undefined]) {
      const response = await send(await issuer.sign({ ...ADA, groups }));
      expect(response.status).toBe(403);
      expect(response.headers.get("www-authenticate")).toBeNull();
      expect(await response.text()).toContain("none of your groups has rights here");
    }
  });

  test("people:groups: the first listed group decides, and * is for everybody else", async () => {
    const { issuer, send, seen } = await open({ groups: { "*": { scopes: ["guest"] }, ...GROUPS } });
    for (const groups of [["sales", "sre"], ["sales"], ["others"], undefined])
      await send(await issuer.sign({ ...ADA, groups }));
    expect(seen.map(({ scopes, allowWrite }) => [...scopes, allowWrite])).toEqual([
      ["keyhole:admin", true],
      ["crm", false],
      ["guest", false],
      ["guest", false],
    ]);
  });

  test("T12: scopes that a client asked the issuer for give no rights", async () => {
    const { issuer, send, seen } = await open();
    await send(
      await issuer.sign({ ...ADA, groups: ["sales"], scope: "keyhole:admin keyhole:write crm other" }),
    );
    expect(seen).toMatchObject([{ scopes: ["crm"], allowWrite: false }]);
  });

  test("T14: the token is in nothing that the principal shows", async () => {
    const { issuer, send, seen } = await open();
    const token = await issuer.sign(ADA);
    await send(token);
    expect(JSON.stringify(seen)).not.toContain(token.split(".")[2]);
  });
});

describe("what an issuer publishes", () => {
  /** A server in the place of the issuer. */
  async function publish(answer: (path: string, origin: string) => object | string | undefined) {
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      const given = answer(url, origin);
      if (typeof given === "string") return void response.writeHead(302, { location: given }).end();
      response
        .writeHead(given ? 200 : 404, { "content-type": "application/json" })
        .end(JSON.stringify(given));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { origin, asked };
  }

  test("T3: metadata under another issuer's name, or behind a redirect, brings no keys", async () => {
    const real = await startIssuer();
    onTestFinished(() => real.close());
    const wrong = [
      () => ({ issuer: real.url, jwks_uri: `${real.url}/jwks` }),
      (path: string) => `${real.url}${path}`,
      (_: string, origin: string) => ({ issuer: `${origin}/`, jwks_uri: `${real.url}/jwks` }),
    ];
    for (const answer of wrong) {
      const { origin } = await publish(answer);
      const { send } = await open({ issuer: origin }, real);
      expect((await send(await real.sign({ ...ADA, iss: origin }))).status).toBe(401);
    }
  });

  test("T6: keys at a private address are read only from the issuer's own host", async () => {
    const real = await startIssuer();
    onTestFinished(() => real.close());
    const { origin } = await publish((_, own) => ({ issuer: own, jwks_uri: `${real.url}/jwks` }));
    const { send } = await open({ issuer: origin }, real);
    expect((await send(await real.sign({ ...ADA, iss: origin }))).status).toBe(401);
    expect(real.requests).toEqual([]);
  });

  test("an OAuth server without OpenID Connect, and one with a path, are found too", async () => {
    const real = await startIssuer();
    onTestFinished(() => real.close());
    const { origin, asked } = await publish((path, own) => {
      if (path === "/keys") return real.publicKeys();
      if (path !== "/.well-known/oauth-authorization-server/team") return undefined;
      return { issuer: `${own}/team`, jwks_uri: `${own}/keys` };
    });
    const { send } = await open({ issuer: `${origin}/team` }, real);
    expect((await send(await real.sign({ ...ADA, iss: `${origin}/team` }))).status).toBe(200);
    expect(asked).toEqual([
      "/team/.well-known/openid-configuration",
      "/.well-known/oauth-authorization-server/team",
      "/keys",
    ]);
  });
});
