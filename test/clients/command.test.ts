import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { MAIN, openProgram } from "../threats/program.ts";
import { write } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A person with one server in Cursor, and a way to run the program. */
function setUp() {
  const home = temporaryFolder();
  const path = join(home, ".cursor", "mcp.json");
  const text = `// Mine.\r\n{ "mcpServers": { "tasks": ${JSON.stringify({
    command: process.execPath,
    args: [CHAOS],
    env: { SECRET_TOKEN: "never-shown-1234" },
    includeTools: ["add", "fail"],
    excludeTools: ["add"],
  })} } }`;
  write(path, text);
  const env = programEnv(home);
  const { keyhole } = openProgram({ home, folder: home });
  const ask = async (program: { command: string; args: string[] }, query: string) => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ ...program, cwd: home, env, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const { content } = await client.callTool({ name: "ask", arguments: { query } });
    return (content as { text: string }[])[0]?.text ?? "";
  };
  return { home, path, text, keyhole, ask };
}

verifies("clients:undo", "the command connects, the client's entry works, and --undo goes back", async () => {
  const { home, path, text, keyhole, ask } = setUp();
  const dry = await keyhole("connect", "cursor", "--dry-run");
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was written.") });
  expect(await keyhole("connect", "cursor")).toMatchObject({
    code: 1,
    errors: expect.stringContaining("PERSON_NEEDED"),
  });
  expect(readFileSync(path, "utf8")).toBe(text);

  const connected = await keyhole("connect", "cursor", "--yes");
  expect(connected).toMatchObject({ code: 0, out: expect.stringContaining("Cursor is connected.") });
  expect(dry.out + connected.out).not.toContain("never-shown");
  const { mcpServers } = JSON.parse(readFileSync(path, "utf8").replace("// Mine.", ""));
  expect(Object.keys(mcpServers)).toEqual(["keyhole"]);
  expect(await ask(mcpServers.keyhole, "tasks")).toContain("tasks://tools/fail");
  // Without a config, the person's own is served.
  const answer = await ask({ command: process.execPath, args: [MAIN, "serve", "--no-daemon"] }, "tasks.add");
  expect(answer).toContain("tasks://");
  expect(answer).not.toContain("tasks://tools/add");
  const listed = await keyhole("servers", "--json");
  expect(JSON.parse(listed.out).servers).toEqual([
    expect.objectContaining({ name: "tasks", tools: 1, waiting: 1 }),
  ]);

  const planned = await keyhole("connect", "cursor", "--undo", "--dry-run");
  expect(planned).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was written.") });
  expect(planned.out).toMatch(/^-.*"keyhole"/m);
  expect(planned.out).not.toContain("never-shown");
  expect(Object.keys(JSON.parse(readFileSync(path, "utf8").replace("// Mine.", "")).mcpServers)).toEqual([
    "keyhole",
  ]);
  expect(await keyhole("connect", "cursor", "--undo")).toMatchObject({ code: 0 });
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(existsSync(join(home, ".keyhole", "settings.json"))).toBe(false);
});

test("--surface native leaves the tools of all servers to the client's own search, and lanes bring the entry back", async () => {
  const home = temporaryFolder();
  const { keyhole } = openProgram({ home, folder: home });
  const path = join(home, ".claude.json");
  const entry = async (...more: string[]) => {
    write(path, JSON.stringify({ mcpServers: { tasks: { command: process.execPath, args: [CHAOS] } } }));
    expect(await keyhole("connect", "claude-code", "--yes", ...more)).toMatchObject({ code: 0 });
    return JSON.parse(readFileSync(path, "utf8")).mcpServers.keyhole;
  };
  const native = await entry("--surface", "native");
  expect(native).not.toHaveProperty("alwaysLoad");
  expect(native.args.join(" ")).toContain("--surface native");
  const lanes = await entry();
  expect(lanes).toHaveProperty("alwaysLoad", true);
  expect(lanes.args).not.toContain("--surface");
  expect(await keyhole("connect", "claude-code", "--surface", "nativ")).toMatchObject({ code: 1 });
});

verifies(
  "clients:undo",
  "a project's file in a repository is changed only by a person's own yes",
  async () => {
    const { home, keyhole } = setUp();
    const path = join(home, ".cursor", "mcp.json");
    const shared = join(home, "site", ".cursor", "mcp.json");
    const text = '{ "mcpServers": { "team": { "command": "x" } } }';
    write(shared, text);
    write(join(home, "site", ".git", "HEAD"), "ref: refs/heads/main");
    const { keyhole: inProject } = openProgram({ home, folder: join(home, "site") });
    const refused = await inProject("connect", "cursor", "--projects", "--yes");
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining("PERSON_NEEDED") });
    expect(refused.out).toContain("is in a repository");
    expect([readFileSync(shared, "utf8"), readFileSync(path, "utf8")]).toEqual([
      text,
      expect.not.stringContaining("keyhole"),
    ]);
    expect(await keyhole("connect", "cursor", "--yes")).toMatchObject({ code: 0 });
  },
);

verifies("clients:read", "keyhole alone lists, and starts servers only if it may", async () => {
  const { keyhole } = setUp();
  const looked = await keyhole();
  expect(looked).toMatchObject({ code: 0, errors: "" });
  expect(looked.out.replace(/\s+/g, " ")).toContain(`tasks ${process.execPath} ${CHAOS} with SECRET_TOKEN`);
  expect(looked.out).toContain("Nothing was started.");
  expect(looked.out).not.toContain("never-shown");
  const { configs, measured } = JSON.parse((await keyhole("--yes", "--json")).out);
  expect(configs).toMatchObject([{ client: "cursor", servers: [{ name: "tasks", usable: true }] }]);
  expect(measured).toMatchObject({
    servers: [{ label: "tasks", tools: 1 }],
    savings: [{ client: "cursor", tools: 1, listing: { shows: "names" } }],
    conversation: { requests: 20, searches: 1 },
  });
  const { request, conversation } = measured.savings[0];
  expect(request.behind).toBeGreaterThan(request.alone);
  expect(1 - conversation.behind / conversation.alone).toBeLessThan(0.05);
  const advised = await keyhole("--yes");
  expect(advised.out.replace(/\s+/g, " ")).toContain(
    `With 1 tool, Cursor hides it behind its own search for ${request.alone} tokens; Keyhole would save little`,
  );
  expect(advised.out).not.toContain("keyhole connect cursor");
  expect((await keyhole("--help")).out).toContain("Usage: keyhole COMMAND");
});

verifies("clients:read", "a server of several clients is listed once, and started once", async () => {
  const { home, keyhole } = setUp();
  const server = { command: process.execPath, args: [CHAOS] };
  const others = { memory: { ...server, env: {} }, off: { ...server, args: [CHAOS, "off"], disabled: true } };
  write(join(home, ".gemini", "settings.json"), JSON.stringify({ mcpServers: { memory: server } }));
  write(join(home, ".codeium", "windsurf", "mcp_config.json"), JSON.stringify({ mcpServers: others }));
  write(
    join(home, ".config", "zed", "settings.json"),
    JSON.stringify({ context_servers: { notes: server, memory: { ...server, disabled_tools: ["add"] } } }),
  );
  const { out } = await keyhole();
  const text = out.replace(/\s+/g, " ");
  expect(text).toContain("3 servers in 4 clients:");
  expect(text.match(/chaos-upstream\.ts/g)).toHaveLength(3);
  expect(text).toMatch(/memory, notes .*chaos-upstream\.ts in .*Gemini CLI.*Windsurf.*Zed/);
  expect(text).toContain("in Windsurf (switched off)");
  const { measured } = JSON.parse((await keyhole("--yes", "--json")).out);
  expect(measured.servers.map(({ label }: { label: string }) => label)).toHaveLength(2);
});

verifies("clients:read", "add and remove edit Keyhole's own config", async () => {
  const { home, keyhole } = setUp();
  const own = join(home, ".keyhole", "settings.json");
  expect(await keyhole("add", "notes", "--env", "A=b=c", "--", "notes-mcp", "--port", "1")).toMatchObject({
    code: 0,
  });
  expect(await keyhole("add", "web", "https://x.example/mcp", "--header", "X-Key: 1")).toMatchObject({
    code: 0,
  });
  expect(JSON.parse(readFileSync(own, "utf8"))).toEqual({
    mcpServers: {
      notes: { command: "notes-mcp", args: ["--port", "1"], env: { A: "b=c" } },
      web: { url: "https://x.example/mcp", headers: { "X-Key": "1" } },
    },
  });
  expect((await keyhole("add", "web", "https://y.example")).errors).toContain("the server web exists");
  expect((await keyhole("remove", "nots")).errors).toContain("nearest: notes");
  await keyhole("remove", "notes");
  expect(Object.keys(JSON.parse(readFileSync(own, "utf8")).mcpServers)).toEqual(["web"]);
});
