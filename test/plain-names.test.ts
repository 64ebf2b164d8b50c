import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { expect } from "vitest";
import { verifies } from "./claims.ts";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };

function domain(name: string, tools: readonly string[], requiredScopes: readonly string[] = []) {
  return defineDomain({
    name,
    description: `What ${name} has.`,
    requiredScopes: [...requiredScopes],
    tools: tools.map((tool, index) =>
      defineTool({
        name: tool,
        route: `${name}://tools/t${index}/${tool.replace(/[^a-z_]/g, "-")}`,
        description: `Does ${tool}.`,
        lane: "read",
        inputSchema: { type: "object", properties: { path: { type: "string" } } },
        execute: ({ path }) => `${name} ${path ?? "nothing"}`,
      }),
    ),
  });
}

const gateway = createGateway({
  domains: [
    domain("files", ["read_file", "write_file", "search"]),
    domain("search", ["find_all"]),
    domain("mail", ["write_file", "gone.tool", "gone://tools/tool"]),
    domain("vault", ["read_file", "open_vault"], ["vault"]),
  ],
  principal: owner,
});

verifies(
  "names:plain",
  "exec, get and help accept a plain name, also with params in the address",
  async () => {
    expect(await gateway.exec({ op: "read_file", args: { path: "a" } })).toMatchObject({
      ok: true,
      op: "files.t0.read_file",
      result: "files a",
    });
    const { results } = await gateway.get({ routes: [{ route: "read_file?path=b" }] });
    expect(results).toMatchObject([{ ok: true, route: "files://tools/t0/read_file" }]);
    expect(await gateway.help({ path: "read_file" })).toMatchObject({ path: "files.t0.read_file" });
  },
);

verifies(
  "names:plain",
  "a shared name is refused with its candidates; entries outside the view do not count",
  async () => {
    const shared = await gateway.exec({ op: "write_file" });
    expect(shared).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND", details: { nearest: ["files.t1.write_file", "mail.t0.write_file"] } },
    });
    expect(shared.text).toContain("A single entry named write_file not found.");
    expect(await gateway.exec({ op: "open_vault" })).toMatchObject({ error: { code: "NOT_FOUND" } });
    const insider = { principal: { ...owner, scopes: ["vault"] } };
    expect(await gateway.exec({ op: "open_vault" }, insider)).toMatchObject({ ok: true });
    expect(await gateway.exec({ op: "read_file" }, insider)).toMatchObject({ error: { code: "NOT_FOUND" } });
  },
);

verifies("names:plain", "a domain wins over a plain name, and no name passes for an address", async () => {
  expect(await gateway.help({ path: "search" })).toMatchObject({ kind: "directory" });
  expect(await gateway.exec({ op: "search" })).toMatchObject({ ok: true, op: "files.t2.search" });
  for (const op of ["gone.tool", "gone://tools/tool"])
    expect(await gateway.exec({ op })).toMatchObject({ error: { code: "NOT_FOUND" } });
});
