import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { lintEntries } from "../../src/program/doctor/lint-entries.ts";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openTerminal, tmuxMissing } from "../tmux.ts";
import { keyhole } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

function setUp(env: Record<string, string> = {}) {
  const home = temporaryFolder();
  const config = join(home, "mcp.json");
  const save = (variables: Record<string, string>) =>
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { tasks: { command: process.execPath, args: [CHAOS], env: variables } } }),
    );
  save(env);
  /** Repeats a command with the hash of what it listed. */
  const agree = async (...args: string[]) => {
    const { out } = await keyhole(home, [...args, "--config", config]);
    return keyhole(home, [...args, "--config", config, "--hash", /Hash: (\S+)/.exec(out)?.[1] ?? "none"]);
  };
  return { home, config, save, agree };
}

verifies(
  "approve:looked-at",
  "approve shows lanes, tokens and changes, and accepts only the hash of that",
  async () => {
    const { home, config, save, agree } = setUp({ CHAOS_DESCRIPTION: "Adds two numbers." });
    const before = await keyhole(home, ["approve", "--config", config]);
    expect(before.out).toMatch(/^tasks waits for your approval to start:\n {2}runs {5}[\s\S]*Hash: /);
    await agree("approve");

    const shown = await keyhole(home, ["approve", "--config", config]);
    expect(shown).toMatchObject({ code: 1, errors: expect.stringContaining("PERSON_NEEDED") });
    expect(shown.out).toMatch(/^tasks: \d+ definitions, [\d,]+ tokens if a client listed them\n {2}runs {5}/);
    expect(shown.out).toMatch(/\+ add +writes +\d+ tokens\n {6}│ Adds two numbers\./);
    const wrong = await keyhole(home, ["approve", "--config", config, "--hash", "0123456789abcdef"]);
    expect(wrong).toMatchObject({
      code: 1,
      errors: expect.stringContaining("--hash does not match what was shown"),
    });
    expect((await agree("approve", "tasks")).out).toMatch(/Approved: \d+\./);
    expect((await keyhole(home, ["approve", "--config", config])).out).toBe("Nothing waits for approval.\n");

    save({ CHAOS_DESCRIPTION: "Adds, and mails the result." });
    await agree("approve");
    const changed = await keyhole(home, ["approve", "--refresh", "--config", config]);
    expect(changed.out).toMatch(/tasks: 1 definition,/);
    expect(changed.out).toContain("- Adds two numbers.");
    expect(changed.out).toContain("+ Adds, and mails the result.");
  },
);

test("servers shows clients, servers and agents at a glance", async () => {
  const { home, config, agree } = setUp();
  await keyhole(home, ["agents", "add", "ci"]);
  await agree("approve");
  const { out } = await keyhole(home, ["servers", "--config", config]);
  expect(out).toMatch(
    /clients {2}none connected[\s\S]*daemon {3}not running[\s\S]*agents {3}ci[\s\S]*tasks .*keyhole approve tasks/,
  );
  const { out: json } = await keyhole(home, ["servers", "--json", "--config", config]);
  expect(JSON.parse(json)).toMatchObject({
    daemon: null,
    clients: [],
    agents: [{ name: "ci" }],
    servers: [{ name: "tasks" }],
    savings: [],
  });
});

test("logs shows the newest lines of the daemon, also of one server", async () => {
  const home = temporaryFolder();
  const { out: none } = await keyhole(home, ["logs"]);
  const path = /No lines in (.*)\. A client/.exec(none)?.[1] ?? "";
  expect(path).toContain(home);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "tasks started\nmail failed\ntasks failed\nunfinished");
  expect((await keyhole(home, ["logs", "-n", "1"])).out).toBe("tasks failed\n");
  expect((await keyhole(home, ["logs", "mail"])).out).toBe("mail failed\n");
  expect((await keyhole(home, ["logs", "mail", "--json"])).out).toBe('{"line":"mail failed"}\n');
});

test.each([
  ["bash", "complete -o default -F _keyhole keyhole"],
  ["zsh", "#compdef keyhole"],
  ["fish", "complete -c keyhole -n __fish_use_subcommand -f -a serve"],
  ["pwsh", "Register-ArgumentCompleter -Native -CommandName keyhole"],
])("completion %s names every command", async (shell, mark) => {
  const { out } = await keyhole(temporaryFolder(), ["completion", shell]);
  const { out: usage } = await keyhole(temporaryFolder(), ["--help"]);
  const commands = [...usage.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => name!);
  expect(out).toContain(mark);
  expect(commands.length).toBe(19);
  expect(commands.filter((name) => !out.includes(name))).toEqual([]);
});

test.each([[["--help"]], [["-h"]], [["--yes", "--help"]], [["--dry-run", "-h"]]])(
  "%j shows all commands and does nothing else",
  async (words) => {
    const { out, code } = await keyhole(temporaryFolder(), words);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: keyhole /);
  },
);

test("the help groups the commands by what a person wants, on one screen", async () => {
  const { out } = await keyhole(temporaryFolder(), ["--help"]);
  const lines = out.trimEnd().split("\n");
  // One row is left for the prompt.
  expect(lines.length).toBeLessThan(40);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  const groups = out.split(/^(?=\w[^\n]*:$)/m).slice(1);
  expect(
    groups.map((group) => [...group.matchAll(/^(\w[^\n]*):$|^ {2}(\w+) {2}/gm)].map(([, a, b]) => a ?? b)),
  ).toEqual([
    ["Set up", "connect", "add", "remove", "servers", "approve", "login", "logout", "secrets"],
    ["Use the tools", "chat", "ask", "show", "call", "script"],
    ["Serve and look after it", "serve", "console", "agents", "doctor", "logs", "catalog"],
  ]);
  expect(lines.at(-1)).toBe("Also: help, version, disconnect CLIENT, uninstall, completion SHELL");
  expect((await keyhole(temporaryFolder(), ["help"])).out).toBe(out);
});

test("a piped chat without a provider fails and says how to set one", () => {
  const home = temporaryFolder();
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve("src/program/main.ts"), "chat"], {
    cwd: home,
    env: programEnv(home),
    input: "hi\n",
    encoding: "utf8",
  });
  expect(stdout).toContain("is not configured: set providers.openai.apiKey or OPENAI_API_KEY");
  const begun = spawnSync(process.execPath, [resolve("src/program/main.ts"), "chat", "--plain", "hi"], {
    cwd: home,
    env: programEnv(home),
    encoding: "utf8",
  });
  expect(begun.stdout).toBe(stdout);
  expect(stderr).toContain(
    "choosing one needs a terminal. Without one, set KEYHOLE_PROVIDER and the provider's key",
  );
  expect(status).toBe(1);
});

test("version prints the version, and disconnect undoes a connection", async () => {
  const home = temporaryFolder();
  expect(await keyhole(home, ["version"])).toEqual(await keyhole(home, ["--version"]));
  expect((await keyhole(home, ["version"])).out).toMatch(/^\d+\.\d+\.\d+/);
  const file = join(home, ".cursor", "mcp.json");
  mkdirSync(dirname(file), { recursive: true });
  const before = JSON.stringify({ mcpServers: { shop: { command: "true" } } });
  writeFileSync(file, before);
  expect((await keyhole(home, ["connect", "cursor", "--yes"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).not.toBe(before);
  expect((await keyhole(home, ["disconnect", "cursor"])).out).toContain("is as it was before.");
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a mistyped option is named with the nearest one and the way to the help", async () => {
  const { errors } = await keyhole(temporaryFolder(), ["--jsn"]);
  expect(errors).toContain(
    "--jsn is not an option (did you mean --json?).\nkeyhole --help shows how it is used.",
  );
});

test("the completion of bash completes", async () => {
  const { out } = await keyhole(temporaryFolder(), ["completion", "bash"]);
  const complete = (...words: string[]) =>
    execFileSync(
      "bash",
      [
        "-c",
        `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _keyhole; echo "\${COMPREPLY[@]}"`,
      ],
      {
        encoding: "utf8",
      },
    ).trim();
  expect(complete("keyhole", "doc")).toBe("doctor");
  expect(complete("keyhole", "connect", "cur")).toBe("cursor");
  expect(complete("keyhole", "serve", "--prof")).toBe("--profile");
});

test("every command takes -h", async () => {
  const { out } = await keyhole(temporaryFolder(), ["-h"]);
  for (const [, name] of out.matchAll(/^ {2}(\w+) {2,}/gm)) {
    const { out: usage, code } = await keyhole(temporaryFolder(), [name!, "-h"]);
    expect([name, code, usage]).toEqual([name, 0, expect.stringMatching(/^Usage: keyhole /)]);
  }
});

test("lint names missing, vague and colliding descriptions with a better wording", async () => {
  const tool = (name: string, description: string, properties: object = {}) => ({
    op: `desk.${name}`,
    domain: "desk",
    lane: "write" as const,
    name,
    description,
    inputSchema: { type: "object", properties, required: Object.keys(properties) },
  });
  const findings = await lintEntries([
    tool("create_ticket", "Opens a support ticket for a customer and mails its number.", {
      title: { type: "string", description: "A line." },
    }),
    tool("create_tickets", "Opens support tickets for a customer and mails their numbers."),
    tool("get_user", "Get user", { id: { type: "string" }, mode: { type: "string" } }),
    tool("sync", ""),
  ]);
  expect(findings.map(({ op, rule }) => `${op} ${rule}`)).toEqual([
    "desk.create_tickets collides",
    "desk.get_user vague",
    "desk.get_user arguments",
    "desk.sync missing",
  ]);
  expect(findings[1]).toMatchObject({
    finding: 'its description says no more than its name: "Get user"',
    better: "Get user in desk. Needs id, mode. Say what it answers with and when to use it.",
  });
});

test("bench and lint look at the person's own catalog and call nothing", async () => {
  const { home, config, agree } = setUp({ CHAOS_DESCRIPTION: "Adds two numbers." });
  await agree("approve");
  const bench = await keyhole(home, ["catalog", "bench", "--json", "--config", config]);
  expect(JSON.parse(bench.out)).toMatchObject([
    { queries: "name", asked: expect.toSatisfy((count) => count > 5), first: expect.any(Number) },
    { queries: "description" },
    { queries: "use", asked: 0 },
  ]);
  const lint = await keyhole(home, ["catalog", "lint", "tasks", "--config", config]);
  expect(lint.out).toContain("its description is vague");
});

test("what agents ask and use through serve is kept: bench asks it again, and report names what nothing met", async () => {
  const { home, config } = setUp();
  const serve = async (asks: readonly string[], uses: readonly string[]) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        resolve("src/program/main.ts"),
        "serve",
        "--no-daemon",
        "--trust",
        "--allow-write",
        "--config",
        config,
      ],
      env: programEnv(home),
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport);
    let session: string | undefined;
    for (const query of asks) {
      const { content } = await client.callTool({ name: "ask", arguments: { query, session } });
      session ??= /session:\/\/[\w-]+/.exec(JSON.stringify(content))?.[0];
    }
    for (const op of uses)
      await client.callTool({ name: "exec", arguments: { op, args: { a: 1 }, session } });
    await client.close();
  };
  await serve(["add two numbers"], ["tasks.add"]);
  await serve(["brew a pot of coffee", "walk the dog"], []);
  const [, , use] = JSON.parse((await keyhole(home, ["catalog", "bench", "--json", "--config", config])).out);
  expect(use).toMatchObject({ queries: "use", asked: 1, five: 1 });
  const { unmet } = JSON.parse((await keyhole(home, ["catalog", "report", "--json"])).out);
  expect(unmet.map(({ query }: { query: string }) => query)).toContain("brew a pot of coffee");
  expect((await keyhole(home, ["catalog", "report"])).out).toMatch(
    /led to no call[\s\S]*brew a pot of coffee/,
  );
  const log = join(home, ".local/state/keyhole/learning.db");
  expect(statSync(log).mode & 0o077).toBe(0);

  rmSync(log);
  writeFileSync(
    config,
    JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), learning: { enabled: false } }),
  );
  await serve(["add two numbers"], ["tasks.add"]);
  expect(existsSync(log)).toBe(false);
});

test.skipIf(tmuxMissing() !== undefined)(
  "add goes on in a terminal: it asks to start the server and to approve its tools, and nothing happens unasked",
  async () => {
    const { home } = setUp();
    const main = resolve("src/program/main.ts");
    const words = ["add", "sums", "--", process.execPath, CHAOS];
    const open = (...args: string[]) =>
      openTerminal([process.execPath, main, ...args], { folder: home, env: programEnv(home), lingers: true });
    const added = open(...words);
    await added.sees("May sums start?");
    await added.answers("Later");
    await added.sees("sums does not start.");
    await added.ends();

    const approved = open("approve", "sums");
    await approved.answers("Yes, let sums start");
    await approved.sees("sums: 18 tools");
    await approved.answers("Approve all 18");
    await approved.sees("sums: 18 approved.");
    await approved.ends();
    const { hits } = JSON.parse((await keyhole(home, ["ask", "add two numbers", "--json"])).out);
    expect(hits[0]).toMatchObject({ route: "sums://tools/add" });
  },
);

test("a wrong command names its own help, and a server that was never listed draws no bars", async () => {
  const { home, config } = setUp();
  const { errors } = await keyhole(home, ["completion", "tcsh"]);
  expect(errors).toMatch(
    /INVALID_INPUT: .*bash, zsh, fish, pwsh\.\nkeyhole completion --help shows how it is used\./,
  );
  expect((await keyhole(home, ["servers", "--config", config])).out).not.toContain("tokens a request");
});

test("servers and approve list as JSON, without the values of variables", async () => {
  const { home, config, agree } = setUp({ API_TOKEN: "sesame" });
  const servers = async () => (await keyhole(home, ["servers", "--json", "--config", config])).out;
  expect(JSON.parse(await servers())).toMatchObject({ servers: [{ name: "tasks", isApproved: false }] });
  await agree("approve");
  expect(JSON.parse(await servers())).toMatchObject({ servers: [{ name: "tasks", isApproved: true }] });
  expect(await servers()).not.toContain("sesame");
  const { out } = await keyhole(home, ["approve", "--json", "--config", config]);
  expect(JSON.parse(out)[0].definitions).toContainEqual(
    expect.objectContaining({ route: "tasks://tools/add", source: "tasks", state: "pending" }),
  );
  expect(out).not.toContain("sesame");
});
