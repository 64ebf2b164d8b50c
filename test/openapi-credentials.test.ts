import { type Gateway, onEvent } from "keyhole";
import type { OpenApiOptions } from "keyhole/sources";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "./claims.ts";
import { type LoopbackApi, sendJson, startLoopbackApi } from "./loopback-api.ts";
import { openPets, problemOfPets, runPets } from "./pet-api.ts";

const CANARY = "canary-4f7c/secret+value";
let api: LoopbackApi;
let elsewhere: LoopbackApi;
let gateway: Gateway;
const events: unknown[] = [];
const stopListening = onEvent((event) => events.push(event));

beforeAll(async () => {
  [api, elsewhere] = await Promise.all([startLoopbackApi(), startLoopbackApi()]);
});
beforeEach(() => {
  for (const server of [api, elsewhere]) {
    server.seen.length = 0;
    server.answer = (_, response) => sendJson(response, { ok: true });
  }
  gateway = openPets(api);
});
afterEach(() => gateway.close());
afterAll(async () => {
  stopListening();
  await Promise.all([api.close(), elsewhere.close()]);
});

const run = (op: string, args?: Record<string, unknown>) => runPets(gateway, op, args);

async function reopen(options: Partial<OpenApiOptions>): Promise<void> {
  await gateway.close();
  gateway = openPets(api, options);
}

const problemOf = (op: string, args?: Record<string, unknown>) => problemOfPets(gateway, op, args);

describe("credentials", () => {
  /** Everything that a model, a log or a listener could see. */
  const shown = async (op = "pets.pets.list") =>
    JSON.stringify([await run(op), await gateway.help({ path: op }), events]);

  test.each([
    ["header", { type: "apiKey", in: "header", name: "X-Key", value: CANARY }],
    ["query", { type: "apiKey", in: "query", name: "api_key", value: () => CANARY }],
    ["cookie", { type: "apiKey", in: "cookie", name: "sid", value: async () => CANARY }],
    ["bearer", { type: "bearer", token: CANARY }],
    ["basic", { type: "basic", username: "me", password: CANARY }],
  ] as const)("by %s", async (place, auth) => {
    await reopen({ auth });
    await run("pets.pets.get", { id: "1", filter: { api_key: "forged" } });
    const [seen] = api.seen;
    const encoded = encodeURIComponent(CANARY);
    const expected = {
      header: seen?.headers["x-key"] === CANARY,
      query: seen?.url === `/v2/pets/1?api_key=${encoded}`,
      cookie: seen?.headers.cookie === `sid=${encoded}`,
      bearer: seen?.headers.authorization === `Bearer ${CANARY}`,
      basic: seen?.headers.authorization === `Basic ${Buffer.from(`me:${CANARY}`).toString("base64")}`,
    };
    expect(expected[place]).toBe(true);
  });

  verifies("openapi:secrets-hidden", "an API that echoes its request reveals no secret", async () => {
    const pair = Buffer.from(`me:${CANARY}`).toString("base64");
    await reopen({
      auth: [
        { type: "basic", username: "me", password: CANARY },
        { type: "apiKey", in: "query", name: "k", value: CANARY },
      ],
      headers: { "X-Auth-Token": `${CANARY}-too` },
    });
    for (const status of [200, 400, 401, 409, 429, 500]) {
      api.answer = ({ url, headers }, response) =>
        sendJson(response, { message: `${url} ${CANARY}`, headers }, status);
      const everything = await shown();
      for (const secret of [CANARY, encodeURIComponent(CANARY), pair, "canary-4f7c"]) {
        expect([status, everything.includes(secret)]).toEqual([status, false]);
      }
    }
    expect(api.seen[0]?.headers["x-auth-token"]).toBe(`${CANARY}-too`);
  });

  verifies("openapi:secrets-hidden", "credentials do not follow a redirect to another origin", async () => {
    await reopen({ auth: { type: "bearer", token: CANARY } });
    api.answer = (_, response) => void response.writeHead(302, { location: `${elsewhere.url}/steal` }).end();
    const found = await problemOf("pets.pets.list");
    expect(found.code).toBe("REQUEST_REFUSED");
    expect(elsewhere.seen).toEqual([]);
    api.answer = ({ url }, response) =>
      url === "/v2/pets"
        ? void response.writeHead(302, { location: "/v2/moved" }).end()
        : sendJson(response, { url });
    expect((await run("pets.pets.list")).result).toEqual({ url: "/v2/moved" });
    expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${CANARY}`);
  });

  test("an unavailable secret is reported as a missing login", async () => {
    const token = () => {
      throw new Error(CANARY);
    };
    await reopen({ auth: { type: "bearer", token } });
    const found = await problemOf("pets.pets.list");
    expect(found.code).toBe("LOGIN_NEEDED");
    expect(JSON.stringify(found)).not.toContain(CANARY);
    expect(api.seen).toEqual([]);
  });

  describe("OAuth clients", () => {
    const auth = () => ({
      type: "clientCredentials" as const,
      tokenUrl: `${elsewhere.url}/token`,
      clientId: "id",
      clientSecret: CANARY,
      scopes: ["a", "b"],
    });

    test("concurrent calls share one token until it expires", async () => {
      await reopen({ auth: auth() });
      elsewhere.answer = (_, response) =>
        void setTimeout(
          () => sendJson(response, { access_token: `tok-${elsewhere.seen.length}`, expires_in: 3600 }),
          20,
        );
      await Promise.all(Array.from({ length: 20 }, () => run("pets.pets.list")));
      await run("pets.pets.list");
      expect(elsewhere.seen).toHaveLength(1);
      expect(String(elsewhere.seen[0]?.body)).toBe("grant_type=client_credentials&scope=a+b");
      expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(
        new Set(["Bearer tok-1"]),
      );
    });

    test("an expired token is fetched again, a refused one once more", async () => {
      await reopen({ auth: auth() });
      elsewhere.answer = (_, response) =>
        sendJson(response, { access_token: `tok-${elsewhere.seen.length}`, expires_in: 1 });
      await run("pets.pets.list");
      await run("pets.pets.list");
      expect(elsewhere.seen).toHaveLength(2);
      api.answer = ({ headers }, response) =>
        sendJson(response, {}, headers.authorization === "Bearer tok-4" ? 200 : 401);
      expect((await run("pets.pets.list")).error).toBeUndefined();
      api.answer = (_, response) => sendJson(response, {}, 401);
      expect((await problemOf("pets.pets.list")).code).toBe("LOGIN_NEEDED");
    });

    test("a refusal by the token endpoint reveals no secret", async () => {
      await reopen({ auth: auth() });
      elsewhere.answer = ({ headers }, response) => sendJson(response, { error: CANARY, headers }, 401);
      const found = await problemOf("pets.pets.list");
      expect(found.code).toBe("LOGIN_NEEDED");
      expect(JSON.stringify([found, events])).not.toContain("canary-4f7c");
      expect(api.seen).toEqual([]);
    });
  });
});
