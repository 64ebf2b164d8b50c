import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { gatewayOf, PATIENT } from "./upstream-kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

function server(label: string, aliases: readonly string[]) {
  const config = { command: process.execPath, args: [CHAOS, label], aliases: [...aliases] };
  return createMcpSource(label, config, { trusted: true, limits: PATIENT });
}

test("an alias of a server is accepted wherever its name is", async () => {
  const gateway = gatewayOf([server("github", ["gh", "files"]), server("files", [])]);
  onTestFinished(() => gateway.close());
  expect((await gateway.exec({ op: "gh.add", args: { sum: 1 } })).text).toContain('"sum":1');
  expect((await gateway.exec({ op: "gh://tools/add", args: { sum: 2 } })).text).toContain('"sum":2');
  expect((await gateway.help({ path: "gh" })).text).toContain("github.add");
  expect((await gateway.help({ path: "gh.add" })).text).toContain("github.add");
  expect((await gateway.ask({ query: "gh.add" })).text).toContain("github://tools/add");
  expect((await gateway.ask({ query: "add", domain: "gh" })).text).toContain("github://tools/add");
  const script = await gateway.run({ code: 'return await call("gh.slow", { ms: 1 })' });
  expect(script.text).toContain("github.slow");

  // The name of another server wins over an alias.
  const { text } = await gateway.exec({ op: "files.environment" });
  expect(text).toContain("files");
  expect((await gateway.exec({ op: "gh.ad" })).text).toContain("github.add");
});

test("an alias of a server that the caller may not see names nothing", async () => {
  const config = { command: process.execPath, args: [CHAOS], aliases: ["gh"] };
  const hidden = createMcpSource("github", config, { trusted: true, scopes: ["admin"], limits: PATIENT });
  const gateway = gatewayOf([hidden, server("notes", [])]);
  onTestFinished(() => gateway.close());
  const answers = [
    await gateway.exec({ op: "gh.add" }),
    await gateway.ask({ query: "gh.add", domain: "gh" }),
    await gateway.help({ path: "gh.add" }),
  ];
  for (const { ok, text } of answers) {
    expect(ok).toBe(false);
    expect(text).not.toContain("github");
  }
});
