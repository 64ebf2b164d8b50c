import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { readServerConfig } from "../config/server-config.ts";
import { createLogins } from "./logins.ts";
import { ServerLogin } from "./server-login.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a request to a silent authorization server times out", async () => {
  const http = createServer((request, response) => {
    if (request.url === "/mcp") response.writeHead(401, { "www-authenticate": "Bearer" }).end();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const logins = createLogins({ path: ":memory:" });
  const config = readServerConfig("mail", {
    type: "http",
    url,
    oauth: { grant: "client_credentials", clientId: "id", clientSecret: "secret" },
  });
  if (config.transport !== "http") expect.unreachable();
  const login = new ServerLogin({ label: "mail", config, variables: {}, logins, maxBytes: 1_000 });

  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 20));
  const { status } = await login.sender(() => {})(url, { method: "POST", body: "{}" });
  expect(status).toBe(401);
  expect(login.complaint).toMatch(/timeout/i);

  await login.close();
  await logins.close();
  http.closeAllConnections();
  http.close();
});
