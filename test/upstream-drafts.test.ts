import type { Tool } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { defineDomain, defineTool } from "keyhole";
import { expect } from "vitest";
import { problem } from "../src/base/problems/problem.ts";
import { systemClock } from "../src/base/util/clock.ts";
import { buildCatalog } from "../src/core/catalog/catalog.ts";
import type { Listing } from "../src/sources/mcp/listing.ts";
import { packTools } from "../src/sources/mcp/packed-tools.ts";
import { toDrafts } from "../src/sources/mcp/to-drafts.ts";
import { Upstream } from "../src/sources/mcp/upstream.ts";
import { verifies } from "./claims.ts";
import { chaos, gatewayOf } from "./upstream-kit.ts";

type Listed = Omit<Listing, "tools"> & { readonly tools: readonly Tool[] };

const upstream = new Upstream({
  label: "up",
  config: { transport: "stdio", command: "none", args: [], env: {} },
  limits: {
    concurrency: 1,
    queue: 1,
    connectMs: 1,
    startingMs: 1,
    totalMs: 1,
    maxLineBytes: 1,
    maxEntries: 1,
    graceMs: 1,
    restarts: 1,
    restartWindowMs: 1,
    backoffMs: 1,
    breakerTimeouts: 1,
    breakerMs: 1,
    relistMs: 1,
    idleMs: 0,
  },
  variables: {},
  environment: {},
  shared: undefined,
  cwd: undefined,
  mayStart: () => true,
  clock: systemClock,
  onChange: () => {},
});

function catalogOf({ tools = [], ...listing }: Partial<Listed>) {
  const whole = {
    tools: packTools(tools).tools,
    prompts: [],
    resources: [],
    templates: [],
    skills: [],
    warnings: [],
    leftOut: [],
    ...listing,
  };
  const { drafts, lazyDrafts: kept } = toDrafts(whole, {
    label: "up",
    program: "a program",
    trusted: true,
    wordingOk: false,
    approvedBy: "keyhole approve up",
    upstream,
    status: undefined,
    timeoutMs: undefined,
    lanes: {},
    askTools: {},
    tools: {},
    transport: "pipe",
    url: undefined,
    toProblem: async (reason: string) => problem("UPSTREAM_ERROR", { server: "x", reason }),
  });
  const domain = { name: "up", description: "Upstream.", scopes: [], rules: [] };
  return buildCatalog({ domains: [domain], drafts: [...drafts, ...kept] });
}

function tool(name: string, annotations?: Tool["annotations"]): Tool {
  return { name, inputSchema: { type: "object" }, ...(annotations && { annotations }) };
}

verifies(
  "upstream:lanes",
  "a tool reads if it says so and no word of it writes; the strictest of hints and words wins, and no hint is write",
  () => {
    const lanes: [Tool, string][] = [
      [tool("alpha", { readOnlyHint: true }), "read"],
      [tool("beta", { destructiveHint: true }), "destructive"],
      [tool("gamma", { readOnlyHint: true, destructiveHint: true }), "destructive"],
      [tool("delta"), "write"],
      [tool("get_epsilon"), "write"],
      [tool("get_mu", { readOnlyHint: true }), "read"],
      [tool("update_nu", { readOnlyHint: true }), "write"],
      [tool("get_and_delete_xi", { readOnlyHint: true }), "destructive"],
      [tool("delete_zeta"), "destructive"],
      [tool("get_eta", { readOnlyHint: false }), "write"],
      [tool("delete_theta", { readOnlyHint: false }), "destructive"],
      [tool("delete_iota", { readOnlyHint: false, destructiveHint: false }), "destructive"],
      [tool("kappa", { destructiveHint: false }), "write"],
      [tool("get_lambda", { destructiveHint: false }), "write"],
    ];
    const catalog = catalogOf({ tools: lanes.map(([each]) => each) });
    for (const [{ name }, lane] of lanes)
      expect([name, catalog.find(`up.${name}`)?.lane]).toEqual([name, lane]);
  },
);

verifies("upstream:names", "names are kept if possible, and colliding names get numbers in order", () => {
  const names = [
    "read_file",
    "a b",
    "a/b",
    "a-b",
    "..",
    "__proto__",
    "constructor",
    "search",
    "é",
    "resources.x",
  ];
  const catalog = catalogOf({
    tools: names.map((name) => tool(name)),
    resources: [{ name: "x", uri: "a://x" }],
  });
  expect(catalog.entries.map(({ route, name }) => [route, name])).toEqual([
    ["up://resources/x-2", "x"],
    ["up://tools/__proto__", "__proto__"],
    ["up://tools/a-b", "a-b"],
    ["up://tools/a-b-2", "a b"],
    ["up://tools/a-b-3", "a/b"],
    ["up://tools/constructor", "constructor"],
    ["up://tools/read_file", "read_file"],
    ["up://tools/resources.x", "resources.x"],
    ["up://tools/search", "search"],
    ["up://tools/unnamed", ".."],
    ["up://tools/unnamed-2", "é"],
  ]);
});

verifies("upstream:names", "no server can replace a domain or another server", async () => {
  const own = defineDomain({
    name: "bad",
    description: "Written here.",
    tools: [defineTool({ name: "add", op: "bad.add", description: "Adds.", execute: () => "mine" })],
  });
  expect(() => gatewayOf([chaos("good"), chaos("good")])).toThrow(
    "The catalog cannot be built: 1 problem.\n- source mcp:good: this id is used more than once",
  );
  const gateway = gatewayOf([chaos("bad"), chaos("good")], { domains: [own] });
  expect(await gateway.exec({ op: "bad.add" })).toMatchObject({ ok: true, result: "mine" });
  expect(await gateway.exec({ op: "good.add", args: { a: 1 } })).toMatchObject({ ok: true });
  await gateway.close();
});

verifies("upstream:names", "any names make a valid catalog, which does not depend on their order", () => {
  const name = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[a-z.\-/ ]{0,6}$/),
    fc.constantFrom("a", "a-2", "prompts.a"),
  );
  const names = fc.uniqueArray(name, { maxLength: 12 });
  fc.assert(
    fc.property(names, names, names, (tools, prompts, resources) => {
      const listing = {
        tools: tools.map((each) => tool(each)),
        prompts: prompts.map((each) => ({ name: each })),
        resources: resources.map((each) => ({
          name: each,
          uri: `a://${encodeURIComponent(each.toWellFormed())}`,
        })),
      };
      const catalog = catalogOf(listing);
      expect(catalog.entries).toHaveLength(tools.length + prompts.length + resources.length);
      const turned = catalogOf({
        tools: listing.tools.toReversed(),
        prompts: listing.prompts.toReversed(),
        resources: listing.resources.toReversed(),
      });
      expect(turned.version).toBe(catalog.version);
    }),
    { numRuns: 200 },
  );
});
