import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { openGrantsNow } from "../../src/core/access/grants.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createAgentTokens } from "../../src/program/open/agent-tokens.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

verifies(
  "tokens:own-principal",
  "a token made by the command is a principal of its own until revoked",
  async () => {
    const home = temporaryFolder();
    const made = await keyhole(home, [
      "agents",
      "add",
      "ci",
      "--scopes",
      "team,ops",
      "--allow-write",
      "--expires",
      "30d",
    ]);
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringContaining("reads and writes, scopes: team ops, expires "),
    });
    const writer = /kh_\S+/.exec(made.out)?.[0] ?? "";
    const reader = /kh_\S+/.exec((await keyhole(home, ["agents", "add", "guest"])).out)?.[0] ?? "";

    const seen: unknown[] = [];
    const who = defineTool({
      name: "who_am_i",
      description: "Says who calls.",
      execute: (_, { principal }) => {
        seen.push(principal);
        return principal.id;
      },
    });
    const write = defineTool({ name: "create_note", description: "Writes.", execute: () => "written" });
    const secret = defineDomain({
      name: "ops",
      description: "Ops.",
      requiredScopes: ["ops"],
      tools: [{ ...who, name: "see_ops" }],
    });
    const gateway = createGateway({
      domains: [defineDomain({ name: "notes", description: "Notes.", tools: [who, write] }), secret],
    });
    const tokens = createAgentTokens(
      openGrantsNow(openRecordFile(`${home}/.local/state/keyhole/approvals.db`), "agent"),
    );
    const http = await serveHttp(createMcpServer(gateway), { token: "owner", tokens });
    onTestFinished(async () => {
      await http.close();
      await gateway.close();
    });
    const call = async (token: string, name: string, args: object) => {
      const response = await fetch(http.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: args },
        }),
      });
      return `${response.status} ${await response.text()}`;
    };
    expect(await call(writer, "get", { routes: ["notes.who_am_i"] })).toContain("agent:ci");
    expect(await call(reader, "get", { routes: ["notes.who_am_i"] })).toContain("agent:guest");
    expect(await call(writer, "exec", { op: "notes.note.create" })).toContain("written");
    expect(await call(reader, "exec", { op: "notes.note.create" })).toContain("PERMISSION_DENIED");
    expect(await call(writer, "help", { path: "ops" })).not.toContain("NOT_FOUND");
    expect(await call(reader, "help", { path: "ops" })).toContain("NOT_FOUND");
    expect(seen).toMatchObject([
      { id: expect.stringMatching(/^agent:ci#/), scopes: ["team", "ops"] },
      { id: expect.stringMatching(/^agent:guest#/), scopes: [] },
    ]);

    expect(await keyhole(home, ["agents", "revoke", "ci"])).toMatchObject({ code: 0, out: "Revoked: ci.\n" });
    expect(await call(writer, "get", { routes: ["notes.who_am_i"] })).toMatch(/^401 /);
    const listed = await keyhole(home, ["agents", "list", "--json"]);
    expect(JSON.parse(listed.out)).toMatchObject([{ name: "guest", scopes: [], allowWrite: false }]);
    expect(listed.out).not.toContain("kh_");
    const log = await keyhole(home, ["logs", "calls"]);
    expect(log.out).toMatch(/allowed.*token {2}ci[\s\S]*revoked.*token {2}ci/);
  },
);

test.each([
  [["add"], "NAME is missing"],
  [["add", "a b"], "a name has letters"],
  [["add", "a", "--expires", "yesterday"], "--expires"],
  [["revoke", "nobody"], "not found"],
  [["ad", "x"], "nearest: add"],
  [["add", "a", "b"], "too many"],
  [["add", "a", "--scope", "b"], "did you mean --scopes?"],
])("agents %j is refused with the reason", async (args, reason) => {
  const { code, errors } = await keyhole(temporaryFolder(), ["agents", ...args]);
  expect([code, errors]).toEqual([1, expect.stringContaining(reason)]);
});

test("a second agent of the same name is refused", async () => {
  const home = temporaryFolder();
  await keyhole(home, ["agents", "add", "ci"]);
  expect(await keyhole(home, ["agents", "add", "ci"])).toMatchObject({
    code: 1,
    errors: expect.stringContaining("the agent ci exists"),
  });
});
