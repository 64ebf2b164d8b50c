import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { findConfigs } from "../../src/program/clients/find-configs.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { clientOf, fixtureOf, PROGRAM, pathOf, setUp, write } from "./kit.ts";

describe.each(CLIENTS.map((client) => [client.name, client] as const))("%s", (_, client) => {
  verifies("clients:undo", "connects and is undone byte for byte, however its file is written", async () => {
    const home = temporaryFolder();
    const { machine, ownPath, connections, plan } = setUp(home);
    const path = pathOf(client, machine);
    const fixture = fixtureOf(client);
    const style = fc.record({
      eol: fc.constantFrom("\n", "\r\n"),
      bom: fc.boolean(),
      indent: fc.constantFrom(...(path.endsWith(".yaml") ? ["  "] : ["  ", "    ", "\t", ""])),
      end: fc.constantFrom("", "\n", "\n\n", "  \n"),
      own: fc.constantFrom(undefined, "", '{ // mine\n\t"mcpServers": { "mine": { "command": "x" } }\n}'),
    });
    await fc.assert(
      fc.asyncProperty(style, async ({ eol, bom, indent, end, own }) => {
        const indented = fixture.replace(/^( {2})+/gm, (blanks) => indent.repeat(blanks.length / 2));
        const text = `${bom ? "\uFEFF" : ""}${`${indented.trimEnd()}${end}`.replaceAll("\n", eol)}`;
        write(path, text);
        if (own === undefined) rmSync(ownPath, { force: true });
        else write(ownPath, own);

        const planned = await plan(client);
        await connections.make(planned);
        const [after] = await findConfigs([client], machine);
        expect(after).toMatchObject({ isConnected: true });
        expect(after?.servers.filter(({ config }) => config)).toEqual([]);
        expect(readFileSync(path, "utf8").startsWith("\uFEFF")).toBe(bom);
        expect(
          readFileSync(path, "utf8")
            .replaceAll("\r\n", "")
            .includes(eol === "\n" ? "\r" : "\n"),
        ).toBe(false);

        expect(await connections.undo(client.name)).toMatchObject({ files: [{ path, isExact: true }] });
        expect(readFileSync(path, "utf8")).toBe(text);
        expect(existsSync(ownPath) ? readFileSync(ownPath, "utf8") : undefined).toBe(own);
      }),
      { numRuns: 10 },
    );
  });

  verifies("clients:undo", "a client without a config gets one, and undoing removes it", async () => {
    const { machine, connections, plan } = setUp(temporaryFolder());
    const { path } = client.places(machine)[0]!;
    await connections.make(await plan(client));
    expect(await findConfigs([client], machine)).toMatchObject([{ isConnected: true, servers: [] }]);
    expect(readFileSync(path, "utf8")).toContain(PROGRAM.args[0]);
    await connections.undo(client.name);
    expect(existsSync(path)).toBe(false);
  });

  verifies(
    "clients:undo",
    "a file that changed since keeps the change and gets its servers back",
    async () => {
      const { machine, connections, plan } = setUp(temporaryFolder());
      const path = pathOf(client, machine);
      const text = fixtureOf(client);
      write(path, text);
      const before = await findConfigs([client], machine);
      await connections.make(await plan(client));
      const mark = path.endsWith("json") || path.endsWith("jsonc") ? "// Mine.\n" : "# Mine.\n";
      write(path, mark + readFileSync(path, "utf8"));
      expect(await connections.undo(client.name)).toMatchObject({ files: [{ path, isExact: false }] });
      expect(readFileSync(path, "utf8")).toBe(mark + text);
      expect(await findConfigs([client], machine)).toEqual(before);
    },
  );
});

verifies("clients:undo", "a reprinted file is mended by its entries", async () => {
  const { machine, connections, plan } = setUp(temporaryFolder());
  const client = clientOf("claude-code");
  const path = pathOf(client, machine);
  write(path, fixtureOf(client));
  await connections.make(await plan(client, { withProjects: true }));
  const changed = JSON.parse(readFileSync(path, "utf8"));
  write(path, JSON.stringify({ ...changed, numStartups: 413 }));
  await connections.undo(client.name);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    ...JSON.parse(fixtureOf(client)),
    numStartups: 413,
  });
});

verifies(
  "clients:undo",
  "an edited entry of Keyhole is refused with the backup, and nothing is touched",
  async () => {
    const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
    const client = clientOf("cursor");
    const path = pathOf(client, machine);
    write(path, fixtureOf(client));
    const place = await connections.make(await plan(client));
    const edited = readFileSync(path, "utf8").replace("/opt/keyhole", "/elsewhere");
    write(path, edited);
    const own = readFileSync(ownPath, "utf8");
    await expect(connections.undo("cursor")).rejects.toMatchObject({
      code: "CONNECTION_CHANGED",
      next: expect.stringContaining(join(place, "1-before")),
    });
    expect(readFileSync(join(place, "1-before"), "utf8")).toBe(fixtureOf(client));
    expect([readFileSync(path, "utf8"), readFileSync(ownPath, "utf8")]).toEqual([edited, own]);
  },
);

test("clients share equal servers, and the last one takes them along", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const text = '{ "mcpServers": { "same": { "command": "x" }, "other": { "command": "NAME" } } }';
  for (const name of ["cursor", "windsurf"]) {
    write(pathOf(clientOf(name), machine), text.replace("NAME", name));
    await connections.make(await plan(clientOf(name)));
  }
  const servers = () => Object.keys(JSON.parse(readFileSync(ownPath, "utf8")).mcpServers);
  expect(servers()).toEqual(["same", "other", "other-windsurf"]);
  await connections.undo("cursor");
  expect(servers()).toEqual(["same", "other-windsurf"]);
  await connections.undo("windsurf");
  expect(servers()).toEqual([]);
});

verifies(
  "clients:undo",
  "undoing goes back behind every connect, and planning it writes nothing",
  async () => {
    const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
    const client = clientOf("cursor");
    const path = pathOf(client, machine);
    const text = '{ "mcpServers": { "first": { "command": "x" } } }';
    write(path, text);
    await connections.make(await plan(client));
    const connected = JSON.parse(readFileSync(path, "utf8"));
    connected.mcpServers.second = { command: "y" };
    write(path, JSON.stringify(connected));
    await connections.make(await plan(client));
    const both = [readFileSync(path, "utf8"), readFileSync(ownPath, "utf8")];

    const planned = await connections.planUndo("cursor");
    expect([readFileSync(path, "utf8"), readFileSync(ownPath, "utf8")]).toEqual(both);
    expect(planned?.files.map((file) => file.path)).toEqual([path]);

    await connections.undo("cursor");
    const { mcpServers } = JSON.parse(readFileSync(path, "utf8"));
    expect(mcpServers).toEqual({ first: { command: "x" }, second: { command: "y" } });
    expect(existsSync(ownPath)).toBe(false);
    expect(await connections.undo("cursor")).toBeUndefined();
  },
);

test("a file that changes between the plan and the writing is left alone", async () => {
  const { machine, connections, plan } = setUp(temporaryFolder());
  const path = pathOf(clientOf("cursor"), machine);
  write(path, "{}");
  const planned = await plan(clientOf("cursor"));
  write(path, '{ "mcpServers": {} }');
  await expect(connections.make(planned)).rejects.toMatchObject({ code: "CLIENT_CONFIG_INVALID" });
  expect(readFileSync(path, "utf8")).toBe('{ "mcpServers": {} }');
});

test.each([
  ["broken JSON", "cursor", "{ oops"],
  ["UTF-16", "cursor", Buffer.from("\uFEFF{}", "utf16le")],
  ["servers inline in TOML", "codex", 'mcp_servers = { a = { command = "x" } }\n'],
])("%s is refused, not rewritten", async (_, name, content) => {
  const { machine, connections, plan } = setUp(temporaryFolder());
  const path = pathOf(clientOf(name), machine);
  write(path, content);
  const connecting = async () => connections.make(await plan(clientOf(name)));
  await expect(connecting()).rejects.toThrow();
  expect(readFileSync(path).equals(Buffer.from(content))).toBe(true);
});

/** Keyhole's own config. */
function settingsAt(path: string) {
  return JSON.parse(readFileSync(path, "utf8"));
}

test("the same program is one server, whatever its name and however it is written", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const connect = async (name: string, mcpServers: object) => {
    write(pathOf(clientOf(name), machine), JSON.stringify({ mcpServers }));
    await connections.make(await plan(clientOf(name)));
  };
  const env = "$" + "{env:TOKEN}";
  await connect("cursor", { github: { command: "gh-mcp", env: { TOKEN: env } } });
  await connect("windsurf", {
    gh: { command: "gh-mcp", args: [], env: { TOKEN: env.replace("env:", "") }, cwd: machine.home },
    github: { command: "gh-mcp", args: ["--all"] },
  });
  await connect("claude-desktop", { github: { command: "gh-mcp" }, again: { command: "gh-mcp" } });
  expect(settingsAt(ownPath)).toMatchObject({
    mcpServers: {
      github: { env: { TOKEN: env } },
      "github-windsurf": { args: ["--all"] },
      "github-claude-desktop": { command: "gh-mcp" },
      again: { command: "gh-mcp" },
    },
    profiles: {
      cursor: { servers: { github: {} } },
      // Its own name of the other server is the name of this one.
      windsurf: { servers: { github: { aliases: ["gh"] }, "github-windsurf": {} } },
      "claude-desktop": { servers: { "github-claude-desktop": { aliases: ["github"] }, again: {} } },
    },
  });
});

test("a profile follows the client's file, and a profile of the person is left alone", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const client = clientOf("cursor");
  const path = pathOf(client, machine);
  const mine = { servers: ["mine"], surface: "routes" };
  write(ownPath, JSON.stringify({ mcpServers: { mine: { command: "m" } }, profiles: { cursor: mine } }));
  write(path, '{ "mcpServers": { "first": { "command": "x" } } }');
  await connections.make(await plan(client));
  const added = JSON.parse(readFileSync(path, "utf8"));
  expect(added.mcpServers.keyhole.args.slice(-2)).toEqual(["--profile", "cursor-2"]);
  added.mcpServers.second = { command: "y", disabled: true };
  added.mcpServers.first = { command: "x", excludeTools: ["wipe"] };
  write(path, JSON.stringify(added));
  const again = await plan(client, { earlier: await connections.profilesOf("cursor") });
  await connections.make(again);
  expect(settingsAt(ownPath).profiles).toEqual({
    cursor: mine,
    "cursor-2": { servers: { first: { excludeTools: ["wipe"] }, second: { disabled: true } } },
  });

  // The person gives the client another surface, and one more server.
  const settings = settingsAt(ownPath);
  settings.profiles["cursor-2"].surface = "routes";
  settings.profiles["cursor-2"].servers.mine = {};
  write(ownPath, JSON.stringify(settings));
  expect(await connections.undo("cursor")).toMatchObject({ keptProfiles: ["cursor-2"] });
  expect(settingsAt(ownPath)).toEqual({
    mcpServers: { mine: { command: "m" } },
    profiles: { cursor: mine, "cursor-2": { servers: { mine: {} }, surface: "routes" } },
  });
});

test.each([[undefined], [["mine"]]])(
  "a profile that the person changed to %j takes in new servers, too",
  async (servers) => {
    const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
    const client = clientOf("cursor");
    const path = pathOf(client, machine);
    const own = { mine: { command: "m" }, other: { command: "x", excludeTools: ["wipe"] } };
    write(ownPath, JSON.stringify({ mcpServers: own, profiles: { cursor: { servers } } }));
    const earlier = ["cursor"];
    write(path, '{ "mcpServers": {} }');
    expect((await plan(client, { earlier })).own).toBeUndefined();
    write(path, '{ "mcpServers": { "new": { "command": "x" } } }');
    await connections.make(await plan(client, { earlier }));
    const rules = settingsAt(ownPath).profiles.cursor.servers;
    expect(rules).toEqual(
      servers
        ? { mine: {}, other: { excludeTools: [], aliases: ["new"] } }
        : { mine: {}, other: {}, new: {} },
    );
  },
);

test("shared servers keep the rules of the client that gets them, or else the strictest of those that share them", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const connect = async (name: string, mcpServers: object, sharing: readonly string[] = []) => {
    write(pathOf(clientOf(name), machine), JSON.stringify({ mcpServers }));
    await connections.make(await plan(clientOf(name), { sharing }));
  };
  const [one, two] = [{ command: "x" }, { command: "y" }];
  // Pasted from Copilot CLI.
  write(ownPath, JSON.stringify({ mcpServers: { pasted: { command: "p", tools: ["a"] } } }));
  await connect("cline", { one, two: { ...two, includeTools: ["a", "b"] } });
  await connect("cursor", { two: { ...two, excludeTools: ["b"] }, off: { command: "z", disabled: true } });
  await connect("windsurf", { mine: { ...one, disabledTools: ["wipe"] } }, ["cline", "cursor", "pasted"]);
  expect(settingsAt(ownPath).profiles.windsurf.servers).toEqual({
    one: { excludeTools: ["wipe"], aliases: ["mine"] },
    two: { includeTools: ["a", "b"], excludeTools: ["b"] },
    pasted: { includeTools: ["a"] },
  });
});
