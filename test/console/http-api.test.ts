import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATIONS } from "../../src/core/operations/operations.ts";
import { verifies } from "../claims.ts";
import { eventually } from "../upstream-kit.ts";
import { exchange, openConsole, type Person, type ServedShop, serveShop } from "./console-kit.ts";

let shop: ServedShop;
let person: Person;
beforeAll(async () => {
  shop = await serveShop();
  person = await shop.open();
});
afterAll(() => shop.close());

interface Row {
  readonly method: string;
  readonly path: string;
  readonly isAdmin: boolean;
}

/** The endpoints, as their OpenAPI document lists them. */
async function endpoints(): Promise<Row[]> {
  const { paths } = await person.json<{ paths: Record<string, Record<string, { description?: string }>> }>(
    "/api/openapi.json",
  );
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description = "" }]) => ({
      method: method.toUpperCase(),
      path,
      isAdmin: description.includes("keyhole:admin"),
    })),
  );
}

describe("the API", () => {
  verifies("console:api", "has one endpoint for each operation, with its schemas", async () => {
    const { paths } = await person.json<{ paths: Record<string, Record<string, object>> }>(
      "/api/openapi.json",
    );
    expect(paths["/api/run"]).toBeUndefined();
    for (const name of Object.keys(OPERATIONS).filter((name) => name !== "run")) {
      expect(paths[`/api/${name}`]?.post).toMatchObject({
        requestBody: { content: { "application/json": { schema: { type: "object" } } } },
        responses: { 200: { content: { "application/json": { schema: expect.anything() } } } },
      });
    }
  });

  verifies("console:api", "answers like the gateway, for the View of its caller", async () => {
    for (const id of ["clerk", "auditor"]) {
      const principal = { id, scopes: id === "auditor" ? ["audit"] : [], allowWrite: id === "clerk" };
      const input = { query: "irregular bookings of the audit" };
      const { text, hits } = await shop.gateway.ask(input, { principal });
      const answer = await (await shop.as(id, "/api/ask", input)).json();
      expect(answer).toMatchObject({ ok: true, text, hits, tokens: expect.any(Number) });
      expect(text.includes("audit://")).toBe(id === "auditor");
    }
  });

  verifies("console:api", "answers failures like the gateway, and unreadable bodies with 400", async () => {
    const failed = await shop.as("reader", "/api/exec", { op: "shop.order.create", args: { customer: "c" } });
    expect([failed.status, await failed.json()]).toEqual([
      200,
      expect.objectContaining({ ok: false, error: expect.objectContaining({ code: "PERMISSION_DENIED" }) }),
    ]);
    const headers = { authorization: "Bearer reader" };
    for (const [type, body] of [
      ["application/json", "{"],
      ["text/plain", '{"query":"orders"}'],
    ] as const) {
      const request = { method: "POST", body, headers: { ...headers, "content-type": type } };
      expect((await fetch(`${shop.origin}/api/ask`, request)).status).toBe(400);
    }
  });

  verifies("console:safe", "every endpoint wants a caller, and the admin part its scope", async () => {
    const rows = await endpoints();
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(({ isAdmin }) => isAdmin).length).toBeGreaterThan(10);
    for (const { method, path, isAdmin } of rows) {
      const request = { method, headers: { "content-type": "application/json" } };
      expect([path, (await fetch(`${shop.origin}${path}`, request)).status]).toEqual([path, 401]);
      if (!isAdmin) continue;
      const headers = { ...request.headers, authorization: "Bearer clerk" };
      const refused = await fetch(`${shop.origin}${path}`, { method, headers });
      expect([path, refused.status, await refused.json()]).toEqual([
        path,
        403,
        { ok: false, error: expect.objectContaining({ code: "ADMIN_NEEDED" }) },
      ]);
    }
  });

  verifies("console:safe", "only the admin scope speaks for others", async () => {
    const input = { query: "irregular bookings of the audit" };
    expect((await shop.as("clerk", "/api/ask?as=auditor", input)).status).toBe(403);
    expect((await person.json<{ text: string }>("/api/ask?as=auditor", input)).text).toContain("audit://");
    expect((await person.json<{ text: string }>("/api/ask", input)).text).not.toContain("audit://");
    expect((await person.send("/api/ask?as=nobody", input)).status).toBe(404);
  });

  test("an answer keeps every cookie that it sets", async () => {
    const headers = new Headers([
      ["set-cookie", "one=1; Path=/"],
      ["set-cookie", "two=2; Path=/"],
    ]);
    const other = await serveShop(
      {},
      { authenticate: async () => new Response(null, { status: 401, headers }) },
    );
    const { headers: answered } = await fetch(other.http.url);
    await other.close();
    expect(answered.getSetCookie()).toEqual(headers.getSetCookie());
  });

  test("probes are open and say nothing else; figures are in the format of Prometheus", async () => {
    expect(await (await fetch(`${shop.origin}/healthz`)).text()).toBe("ok\n");
    await eventually(async () => expect((await fetch(`${shop.origin}/readyz`)).status).toBe(200));
    await shop.as("clerk", "/api/ask", { query: "orders" });
    const metrics = await shop.as("clerk", "/metrics");
    expect(metrics.headers.get("content-type")).toContain("version=0.0.4");
    const text = await metrics.text();
    expect(text).toMatch(/^keyhole_operations_total\{operation="ask",outcome="ok"\} [1-9]/m);
    for (const line of text.trim().split("\n"))
      expect(line).toMatch(/^(#\s(HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+)$/);
  });
});

describe("a session of the console", () => {
  verifies("console:safe", "opens once by its link, and its cookie is for no script", async () => {
    const other = await serveShop();
    const first = await exchange(other.http.consoleLink);
    expect(first.headers.get("set-cookie")).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await exchange(other.http.consoleLink)).status).toBe(401);
    await other.close();
  });

  verifies("console:safe", "needs both halves, from its own page", async () => {
    const { cookie, half } = person;
    const own = { cookie, "x-keyhole-console": half };
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${shop.origin}/api/overview`, { headers })).status;
    expect(await status({ ...own, origin: shop.origin, "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await status({ cookie })).toBe(401);
    expect(await status({ "x-keyhole-console": half })).toBe(401);
    expect(await status({ ...own, "x-keyhole-console": `${half}x` })).toBe(401);
    // Another port of the same machine is the same site for cookies.
    expect(await status({ ...own, origin: "http://127.0.0.1:1" })).toBe(401);
    expect(await status({ ...own, "sec-fetch-site": "same-site" })).toBe(401);
    expect(await status({ ...own, origin: "https://evil.example" })).toBe(403);
  });

  verifies("console:safe", "is not opened for a page of another origin, nor for a form", async () => {
    const link = (await person.json<{ url: string }>("/api/console/link", {})).url;
    for (const origin of ["http://127.0.0.1:1", "null", "https://evil.example"])
      expect((await exchange(link, { origin })).status, origin).toBe(403);
    expect((await exchange(link, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await exchange(link)).status).toBe(200);
  });

  test("ends when the person leaves", async () => {
    const leaving = await openConsole((await person.json<{ url: string }>("/api/console/link", {})).url);
    expect((await leaving.send("/api/me")).status).toBe(200);
    const headers = { cookie: leaving.cookie, "x-keyhole-console": leaving.half };
    await fetch(`${shop.origin}/console/session`, { method: "DELETE", headers });
    expect((await leaving.send("/api/me")).status).toBe(401);
  });

  verifies(
    "console:figures",
    "its searches count nowhere: ledger, learning and figures are of agents",
    async () => {
      const before = [
        (await shop.gateway.report()).ledger,
        (await shop.gateway.report()).discovery,
        (await shop.gateway.report()).unmet,
      ];
      const sessions = await person.json("/api/sessions");
      await person.json("/api/ask", { query: "a need that only a person has", explain: true });
      await person.json("/api/get", { routes: [{ route: "shop.orders.list" }] });
      expect([
        (await shop.gateway.report()).ledger,
        (await shop.gateway.report()).discovery,
        (await shop.gateway.report()).unmet,
      ]).toEqual(before);
      expect(await person.json("/api/sessions")).toEqual(sessions);
    },
  );
});
