import { createGateway } from "keyhole";
import { createMcpServer, type HttpOptions, serveHttp } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOAuthGuard } from "../../src/faces/mcp/bearer.ts";
import { createHttpRoutes, createRouter, type HttpRoute } from "../../src/faces/mcp/http-routes.ts";
import { verifies } from "../claims.ts";

const webhooks = { "/hooks/books": { secret: "it is a secret", source: "books/library" } };
const oauth = {
  issuer: "https://issuer.example",
  audience: "https://keyhole.example/mcp",
  keys: { keys: [] },
};

async function serve(options: HttpOptions) {
  const server = createMcpServer(createGateway({ domains: [] }));
  onTestFinished(() => server.close());
  const http = await serveHttp(server, { token: "t", ...options });
  onTestFinished(() => http.close());
  const routes = createHttpRoutes({
    server,
    path: options.path ?? "/mcp",
    oauth: options.oauth && createOAuthGuard(options.oauth),
    webhooks: options.webhooks,
    receive: async () => Buffer.alloc(0),
  });
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, http.url), { method, headers });
  return { routes, send };
}

describe.each<[string, HttpOptions]>([
  ["with a token only", {}],
  ["with OAuth and webhooks", { oauth, webhooks }],
  ["at another path", { path: "/gateway", webhooks }],
])("routes %s", (_, options) => {
  verifies("mcp:http-front", "answer 401 without a token unless they are marked open", async () => {
    const { routes, send } = await serve(options);
    const closed = routes.filter(({ open }) => open !== true);
    expect(closed.map(({ method }) => method)).toEqual(["POST", "GET", "DELETE"]);
    for (const { method, path } of closed) {
      expect([method, path, (await send(method, path)).status]).toEqual([method, path, 401]);
    }
  });

  test("are open only for the metadata of OAuth and for webhooks", async () => {
    const { routes, send } = await serve(options);
    const open = routes.filter((route) => route.open);
    const metadata = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...(options.oauth ? metadata.map((path) => `GET ${path}`) : []),
      ...(options.webhooks ? ["POST /hooks/books"] : []),
    ]);
    for (const { method, path } of open) {
      expect((await send(method, path)).status).toBe(method === "GET" ? 200 : 401);
    }
  });

  test("answer 405 with Allow to another method", async () => {
    const { routes, send } = await serve(options);
    for (const path of new Set(routes.map((route) => route.path))) {
      const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
      for (const method of ["PUT", "PATCH", "OPTIONS", "HEAD"]) {
        const response = await send(method, path, { authorization: "Bearer t" });
        expect([method, path, response.status]).toEqual([method, path, 405]);
        expect(response.headers.get("allow")).toBe(allowed.join(", "));
      }
    }
  });

  test("answer 404 to other paths", async () => {
    const { send } = await serve(options);
    for (const path of ["/", "/health/extraction", "/mcp/", "/MCP", "/constructor", "/hooks"]) {
      for (const method of ["GET", "POST"]) {
        const { status } = await send(method, path, { authorization: "Bearer t" });
        expect([method, path, status]).toEqual([method, path, 404]);
      }
    }
  });
});

describe("a row of the route table", () => {
  const refusal = new Response(null, { status: 401 });
  const request = { method: "GET", url: "/secret?a=1", headers: {} };

  async function answerOf(route: Pick<HttpRoute, "open">): Promise<number> {
    const row: HttpRoute = { method: "GET", path: "/secret", ...route, handle: () => new Response("secret") };
    const router = createRouter([row], async () => refusal);
    const answer = await router(request as never, {} as never);
    return answer instanceof Response ? answer.status : 200;
  }

  verifies("mcp:http-front", "needs a caller unless it is marked open", async () => {
    expect(await answerOf({})).toBe(401);
    expect(await answerOf({ open: true })).toBe(200);
  });

  test("may exist once only", async () => {
    const twice = serve({ webhooks: { "/mcp": { secret: "s", source: "books/library" } } });
    await expect(twice).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
