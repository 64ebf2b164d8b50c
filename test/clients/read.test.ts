// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { findConfigs } from "../../src/program/clients/find-configs.ts";
import { fromMcpConfig } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, gatewayOf } from "../upstream-kit.ts";
import { clientOf, fixtureOf, machineIn, pathOf, setUp, write } from "./kit.ts";

const HOME = "/home/me";

/** The servers of a fixture: their config in Keyhole's words, or why they stay. */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, object | string>>>> = {
  "claude-code": {
    github: {
      command: "gh-mcp",
      args: ["--toolsets", "all"],
      env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" },
    },
    docs: {
      url: "https://docs.example.com/mcp",
      headers: { Authorization: "Bearer ${DOCS_TOKEN:-none}" },
    },
    old: { type: "sse", url: "https://old.example.com/sse" },
    database: { command: "pg-mcp", args: ["site"], cwd: "/home/me/site" },
  },
  "claude-desktop": {
    filesystem: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Documents"],
    },
  },
  vscode: {
    memory: { command: "mem", envFile: `${HOME}/.env` },
    asks: { command: "ask-mcp", env: { KEY: "${input:key}" } },
    here: "${workspaceFolder} is another folder in every window",
    web: { url: "https://web.example.com/mcp" },
  },
  cursor: {
    linear: { url: "https://mcp.linear.app/mcp", headers: { "X-Key": "${env:LINEAR_KEY}" } },
    local: { command: "python", args: [`${HOME}/server.py`] },
  },
  codex: {
    context7: {
      command: "npx",
      args: ["-y", "@upstash/context7-mcp"],
      timeoutMs: 20_000,
      excludeTools: ["forget"],
      env: { LEVEL: "info" },
    },
    figma: { url: "https://mcp.figma.com/mcp", headers: { Authorization: "Bearer ${FIGMA_TOKEN}" } },
    "off one": { command: "x", disabled: true },
  },
  gemini: {
    shop: {
      url: "https://shop.example.com/mcp",
      headers: { Authorization: "Bearer ${SHOP_TOKEN}" },
      timeoutMs: 5000,
      includeTools: ["find_order", "list_orders"],
      excludeTools: ["list_orders"],
      askTools: { "*": "never" },
    },
  },
  opencode: {
    jira: { command: "npx", args: ["-y", "jira-mcp"], env: { JIRA_TOKEN: "${JIRA_TOKEN}" } },
    sentry: { url: "https://mcp.sentry.dev/mcp", disabled: true },
  },
  copilot: {
    playwright: { command: "npx", args: ["@playwright/mcp@latest"] },
    narrow: { url: "https://narrow.example.com/mcp", includeTools: ["one"] },
  },
  windsurf: {
    remote: { url: "https://remote.example.com/mcp", excludeTools: ["wipe"] },
    idle: { command: "idle-mcp", disabled: true },
  },
  zed: {
    "old-shape": { command: "some-command", args: ["a"], env: { A: "1" } },
    "new-shape": { command: "other-command", args: [], env: {} },
    extension: "Keyhole has no settings",
  },
  cline: {
    weather: {
      command: "node",
      args: ["/srv/weather.js"],
      timeoutMs: 60_000,
      askTools: { get_forecast: "never" },
    },
    stream: { url: "https://stream.example.com/mcp" },
  },
  continue: {
    SQLite: { command: "npx", args: ["-y", "mcp-sqlite", "/home/me/db.sqlite"] },
    Keyed: "Keyhole cannot fill in the template of its client",
    Remote: { url: "https://remote.example.com/mcp", headers: { "X-Key": "abc" } },
  },
  goose: {
    notes: {
      command: "uvx",
      args: ["notes-mcp"],
      env: { NOTES_KEY: "${NOTES_KEY}" },
      timeoutMs: 30_000,
      includeTools: ["read_note"],
    },
    web: { url: "https://web.example.com/mcp", disabled: true },
  },
};

verifies("clients:read", "every client's servers are read into the same words", async () => {
  for (const client of CLIENTS) {
    const home = temporaryFolder();
    const machine = machineIn(home);
    write(pathOf(client, machine), fixtureOf(client).replaceAll(HOME, home));
    const found = (await findConfigs([client], machine)).flatMap(({ servers }) => servers);
    const read = Object.fromEntries(found.map(({ name, config, stays }) => [name, config ?? stays]));
    const expected = EXPECTED[client.name === "qwen" ? "gemini" : client.name]!;
    expect(read, client.name).toEqual(JSON.parse(JSON.stringify(expected).replaceAll(HOME, home)));
  }
});

verifies("clients:read", "a loss and an unknown field are told", async () => {
  const home = temporaryFolder();
  write(pathOf(clientOf("cursor"), machineIn(home)), fixtureOf(clientOf("cursor")));
  const windsurf = { mcpServers: { x: { command: "x", autoApprove: ["y"] } } };
  write(pathOf(clientOf("windsurf"), machineIn(home)), JSON.stringify(windsurf));
  const found = await findConfigs([clientOf("cursor"), clientOf("windsurf")], machineIn(home));
  const notes = found.flatMap(({ servers }) => servers.flatMap((server) => server.notes));
  expect(notes).toEqual([
    "comand is an unknown field; did you mean command?",
    "autoApprove is not carried over.",
  ]);
});

verifies("clients:read", "a server that a list of the client excludes stays off", async () => {
  const home = temporaryFolder();
  const client = clientOf("gemini");
  const one = { command: "x" };
  const config = { mcp: { allowed: ["a", "b"], excluded: ["b"] }, mcpServers: { a: one, b: one, c: one } };
  write(pathOf(client, machineIn(home)), JSON.stringify(config));
  const [found] = await findConfigs([client], machineIn(home));
  const off = { ...one, disabled: true };
  expect(found?.servers.map((server) => server.config)).toEqual([one, off, off]);
});

verifies("clients:read", "a project's file fills in its folder", async () => {
  const home = temporaryFolder();
  const machine = machineIn(home);
  write(join(machine.project, ".vscode", "mcp.json"), fixtureOf(clientOf("vscode")));
  const [found] = await findConfigs([clientOf("vscode")], machine);
  expect(found?.servers.find(({ name }) => name === "here")?.config).toEqual({
    command: "here-mcp",
    args: [machine.project],
    cwd: machine.project,
  });
});

verifies("clients:read", "a tool that a client excludes cannot be found or called", async () => {
  const { machine, plan } = setUp(temporaryFolder());
  const { runs } = chaos("bad").program();
  const entry = { ...runs, excludeTools: ["add"] };
  write(pathOf(clientOf("gemini"), machine), JSON.stringify({ mcpServers: { bad: entry } }));
  const { moved } = await plan(clientOf("gemini"));
  const servers = Object.fromEntries(moved.map(({ name, config }) => [name, config]));
  const gateway = gatewayOf(fromMcpConfig({ mcpServers: servers }, { trusted: true }));
  await gateway.ready();
  await gateway.sources.refresh("mcp:bad");
  expect((await gateway.ask({ query: "bad.add" })).text).not.toContain("bad://tools/add");
  expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect((await gateway.ask({ query: "bad.fail" })).text).toContain("bad://tools/fail");
  await gateway.close();
});

verifies("clients:read", "an envFile adds variables, and those of env win", async () => {
  const folder = temporaryFolder();
  write(join(folder, ".env"), "CHAOS_DESCRIPTION='From the file.'\n");
  const plain = { ...chaos("bad").program().runs, cwd: folder, envFile: ".env" };
  const servers = { plain, over: { ...plain, env: { CHAOS_DESCRIPTION: "From the config." } } };
  const gateway = gatewayOf(fromMcpConfig({ mcpServers: servers }, { trusted: true }));
  await gateway.ready();
  await Promise.all([gateway.sources.refresh("mcp:plain"), gateway.sources.refresh("mcp:over")]);
  expect((await gateway.ask({ query: "plain.add" })).text).toContain("From the file.");
  expect((await gateway.ask({ query: "over.add" })).text).toContain("From the config.");
  await gateway.close();
});

test("clients keep their configs where each platform has them", () => {
  const paths = (platform: NodeJS.Platform) =>
    Object.fromEntries(
      CLIENTS.map((client) => [client.name, client.places(machineIn("/h", platform))[0]!.path]),
    );
  expect(paths("darwin")).toMatchObject({
    "claude-desktop": "/h/Library/Application Support/Claude/claude_desktop_config.json",
    vscode: "/h/Library/Application Support/Code/User/mcp.json",
    zed: "/h/.config/zed/settings.json",
  });
  expect(paths("win32")).toMatchObject({
    "claude-desktop": "/h/AppData/Roaming/Claude/claude_desktop_config.json",
    goose: "/h/AppData/Roaming/Block/goose/config/config.yaml",
    zed: "/h/AppData/Roaming/Zed/settings.json",
  });
  expect(paths("linux")).toMatchObject({
    "claude-code": "/h/.claude.json",
    "claude-desktop": "/h/.config/Claude/claude_desktop_config.json",
    codex: "/h/.codex/config.toml",
    opencode: "/h/.config/opencode/opencode.json",
  });
});
