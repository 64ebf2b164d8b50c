import { expect, onTestFinished, test } from "vitest";
import type { McpServerOptions } from "../../src/faces/mcp/mcp-server.ts";
import { serveShop } from "../console/console-kit.ts";

const CODE = { code: "return tools.shop.order.create({ customer: 'c' })" };

async function serve(options: McpServerOptions) {
  const shop = await serveShop({}, {}, options);
  onTestFinished(() => shop.close());
  return shop;
}

test.each<McpServerOptions>([
  {},
  { surface: "lanes" },
  { surface: "routes", run: true },
  { surface: "commands", toolSearch: true, run: true },
  { surface: "native", run: true },
])("T12: scripts cannot be run over the JSON API of a surface without run: %j", async (options) => {
  const { as, open, calls } = await serve(options);
  for (const path of ["/api/run", "/api/run?as=clerk", "/api/run/", "/api//run", "/api/RUN", "/api/%72un"])
    expect([path, (await as("clerk", path, CODE)).status]).toEqual([path, 404]);
  const person = await open();
  expect((await person.send("/api/run", CODE)).status).toBe(404);
  const { paths } = await person.json<{ paths: object }>("/api/openapi.json");
  expect(Object.keys(paths)).not.toContain("/api/run");
  expect(calls.made).toEqual([]);
});

test.each<McpServerOptions>([{ surface: "lanes", run: true }, { surface: "code" }])(
  "scripts run over the JSON API of a surface with run: %j",
  async (options) => {
    const { as } = await serve(options);
    const answer = await as("clerk", "/api/run", { code: "return 1 + 1" });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ ok: true })]);
  },
);
