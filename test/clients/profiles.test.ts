import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { listedHash, openProgram } from "../threats/program.ts";
import { processesWith } from "../upstream-kit.ts";
import { clientOf, machineIn, pathOf, write } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A person with several clients. */
function setUp() {
  const home = temporaryFolder();
  const { keyhole } = openProgram({ home, folder: home });
  onTestFinished(async () => {
    await keyhole("daemon", "stop");
  });
  const path = (client: string) => pathOf(clientOf(client), machineIn(home));
  /** Starts exactly the program that the client's file names. */
  const start = async (client: string) => {
    const { command, args } = JSON.parse(readFileSync(path(client), "utf8")).mcpServers.keyhole;
    const connected = new Client({ name: client, version: "1" });
    const transport = { command, args, cwd: home, env: programEnv(home), stderr: "ignore" as const };
    await connected.connect(new StdioClientTransport(transport));
    onTestFinished(() => connected.close());
    return async (name: string, given: Record<string, unknown>) => {
      const { content } = await connected.callTool({ name, arguments: given });
      return (content as { text: string }[])[0]?.text ?? "";
    };
  };
  return {
    path,
    start,
    keyhole,
    has: (client: string, mcpServers: object) => write(path(client), JSON.stringify({ mcpServers })),
    settings: () => JSON.parse(readFileSync(join(home, ".keyhole", "settings.json"), "utf8")),
    approveAll: async () => {
      const { out, errors } = await keyhole("approve");
      return keyhole("approve", "--hash", listedHash(out + errors));
    },
  };
}

function chaos(env?: Readonly<Record<string, string>>) {
  return { command: process.execPath, args: [CHAOS], ...(env && { env }) };
}

verifies(
  "clients:restrictions",
  "a tool that one client forbids stays forbidden there when another client brings the same server",
  async () => {
    const { has, start, keyhole, settings, approveAll } = setUp();
    const word = `PROFILE_${process.pid}`;
    has("windsurf", { tasks: { ...chaos({ [word]: "1" }), disabledTools: ["add"] } });
    has("cline", { work: { ...chaos({ [word]: "1" }), type: "stdio", autoApprove: [] } });
    has("cursor", { mine: { ...chaos({ OTHER: "1" }) } });
    for (const client of ["windsurf", "cline", "cursor"])
      expect(await keyhole("connect", client, "--yes")).toMatchObject({ code: 0 });
    expect(settings()).toMatchObject({
      mcpServers: { tasks: { excludeTools: ["add"] }, mine: {} },
      profiles: {
        windsurf: { servers: { tasks: { excludeTools: ["add"] } } },
        cline: { servers: { tasks: { excludeTools: [], aliases: ["work"] } } },
        cursor: { servers: { mine: {} } },
      },
    });
    expect(Object.keys(settings().mcpServers)).toEqual(["tasks", "mine"]);

    // One approval holds for every client.
    expect((await approveAll()).out).toContain("Approved");
    const [windsurf, cline, cursor] = await Promise.all(["windsurf", "cline", "cursor"].map(start));
    const add = { op: "tasks.add", args: { sum: 1 } };
    expect(await windsurf!("exec", add)).toContain("NOT_FOUND");
    expect(await cline!("exec", add)).toContain('"sum":1');
    expect(await cursor!("exec", add)).toContain("NOT_FOUND");
    expect(await cline!("exec", { op: "mine.add" })).toContain("NOT_FOUND");
    expect(await cursor!("ask", { query: "tasks add" })).not.toContain("tasks");
    expect(await windsurf!("ask", { query: "add numbers" })).not.toMatch(/tools\/add\b/);

    // Cline's own name of the server.
    expect(await cline!("exec", { op: "work.add", args: { sum: 2 } })).toContain('"sum":2');
    expect(await cline!("help", { path: "work" })).toContain("tasks.add");
    expect(await cline!("ask", { query: "work.add" })).toContain("tasks://tools/add");
    expect(await cline!("ask", { query: "add", domain: "work" })).toContain("tasks://tools/add");
    expect(await windsurf!("exec", { op: "work.slow" })).toContain("NOT_FOUND");

    expect(await windsurf!("exec", { op: "tasks.slow", args: { ms: 1 } })).toContain("at last");
    expect(processesWith(`${word}=1`)).toHaveLength(1);
  },
);

verifies("clients:restrictions", "sharing is a choice that names what is shared", async () => {
  const { has, start, keyhole, settings, approveAll } = setUp();
  has("cursor", { tasks: { ...chaos({ CURSOR_TOKEN: "never-shown-1" }), excludeTools: ["add"] } });
  has("windsurf", { notes: { ...chaos({ NOTES_TOKEN: "never-shown-2" }), excludeTools: ["fail"] } });
  has("claude-desktop", {});
  expect(await keyhole("connect", "cursor", "--yes")).toMatchObject({ code: 0 });
  const lonely = await keyhole("connect", "claude-desktop", "--dry-run");
  expect(lonely.out).toContain("--all");

  const shared = await keyhole("connect", "windsurf", "--with", "cursor", "--yes");
  expect(shared.out).toMatch(/also gets these servers.*\(1\):\n {2}tasks\n/);
  expect(shared.out).toContain("variable CURSOR_TOKEN=(hidden)");
  expect(shared.out).toContain("without  add");
  expect(shared.out).not.toContain("never-shown");
  expect(settings().profiles.windsurf.servers).toEqual({
    notes: { excludeTools: ["fail"] },
    tasks: { excludeTools: ["add"] },
  });
  const wrong = await keyhole("connect", "claude-desktop", "--with", "windsrf", "--yes");
  expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining("nearest: windsurf") });
  expect(await keyhole("connect", "claude-desktop", "--all", "--yes")).toMatchObject({ code: 0 });
  expect(Object.keys(settings().profiles["claude-desktop"].servers)).toEqual(["tasks", "notes"]);

  await approveAll();
  const [windsurf, desktop, cursor] = await Promise.all(["windsurf", "claude-desktop", "cursor"].map(start));
  expect(await windsurf!("exec", { op: "tasks.slow", args: { ms: 1 } })).toContain("at last");
  expect(await windsurf!("exec", { op: "tasks.add" })).toContain("NOT_FOUND");
  expect(await desktop!("exec", { op: "notes.add", args: { sum: 3 } })).toContain('"sum":3');
  expect(await cursor!("exec", { op: "notes.add" })).toContain("NOT_FOUND");

  // Cursor gets its server back, and Windsurf goes on using it.
  expect(await keyhole("disconnect", "cursor")).toMatchObject({ code: 0 });
  expect(Object.keys(settings().profiles)).toEqual(["windsurf", "claude-desktop"]);
  expect(Object.keys(settings().mcpServers)).toEqual(["tasks", "notes"]);
  for (const client of ["windsurf", "claude-desktop"]) await keyhole("disconnect", client);
  expect(settings()).toEqual({ mcpServers: {} });
});

verifies(
  "clients:restrictions",
  "added and removed servers, and clients without a profile, are told",
  async () => {
    const { has, path, keyhole, settings } = setUp();
    has("cursor", { tasks: chaos() });
    await keyhole("connect", "cursor", "--yes");
    expect((await keyhole("add", "notes", "--", "notes-mcp")).out).toContain(
      "keyhole connect CLIENT --with notes",
    );
    const given = await keyhole("connect", "cursor", "--with", "notes", "--yes");
    expect(given).toMatchObject({ code: 0, out: expect.stringMatching(/also gets.*\n {2}notes\n/) });
    expect(settings().profiles.cursor.servers).toEqual({ tasks: {}, notes: {} });
    expect((await keyhole("connect", "cursor", "--yes")).out).toContain("is connected already");
    await keyhole("remove", "notes");
    expect(settings().profiles.cursor.servers).toEqual({ tasks: {} });

    // The entry of an older version.
    const entry = readFileSync(path("cursor"), "utf8").replace(/,\s*"--profile",\s*"cursor"/, "");
    write(path("cursor"), entry);
    const checked = await keyhole("doctor");
    expect(checked.out + checked.errors).toContain("Cursor gets the servers of every client");
    expect((await keyhole("connect", "cursor", "--yes")).out).toContain("Cursor is connected.");
    expect(readFileSync(path("cursor"), "utf8")).toContain('"--profile"');
  },
);
