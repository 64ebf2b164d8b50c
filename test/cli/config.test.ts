// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const chaos = (env: Record<string, string> = {}) => ({ command: process.execPath, args: [CHAOS], env });

function write(home: string, name: string, value: unknown): string {
  const path = join(home, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return path;
}

verifies(
  "config:one-file",
  "every command reads servers and settings of one config in the same way",
  async () => {
    const home = temporaryFolder();
    const config = write(
      home,
      "own.jsonc",
      `{
    // One file, as a person would write it.
    "$schema": "./settings.schema.json",
    "servers": {
      "tasks": ${JSON.stringify({ ...chaos(), ask: "never" })},
      "other": ${JSON.stringify(chaos())},
      "off": { "command": "no-such-program", "disabled": true },
      "broken": { "command": 7 },
    },
    "overrides": { "tasks": { "description": "Tasks of my own.", "tools": {
      "add": { "name": "sum_up", "description": "Sums up what I spent.", "lane": "destructive" },
      "fail": { "hidden": true },
    } } },
    "profiles": { "work": { "servers": ["tasks"] } },
    "audit": { "enabled": false },
    "logging": { "level": "error" }
  }`,
    );
    // A server of the settings is left alone when a config is named.
    write(home, ".keyhole/settings.json", { mcpServers: { mine: chaos() } });

    const listed = await keyhole(home, ["servers", "--config", config]);
    expect(listed.out).toMatch(/servers {2}2\n {2}other +waits[\s\S]* {2}tasks +waits/);
    expect(listed.errors).toContain('the server "broken": command must be a text');
    for (const command of ["ask", "call", "servers", "approve", "login"]) {
      const words =
        command === "ask"
          ? ["sum"]
          : command === "call"
            ? ["tasks.sum_up"]
            : command === "login"
              ? ["nobody"]
              : [];
      const { out, errors } = await keyhole(home, [command, ...words, "--config", config]);
      expect([command, out + errors]).toEqual([
        command,
        expect.stringContaining(command === "login" ? "other, tasks" : ""),
      ]);
      expect(out + errors).not.toContain("mine");
    }
    expect((await keyhole(home, ["servers"])).out).toMatch(/mine +waits/);

    const trusted = ["--config", config, "--trust"];
    const found = await keyhole(home, ["ask", "sums up what I spent", "--json", ...trusted]);
    expect({ ...JSON.parse(found.out).hits[0], errors: found.errors }).toMatchObject({
      route: "tasks://tools/sum_up",
      summary: "Sums up what I spent.",
      lane: "destructive",
    });
    const hidden = await keyhole(home, ["ask", "fail", "--json", "--profile", "work", ...trusted]);
    expect(JSON.parse(hidden.out).hits.map(({ route }: { route: string }) => route)).not.toContain(
      "tasks://tools/fail",
    );
    expect((await keyhole(home, ["show", "--profile", "work", ...trusted])).out).not.toContain("other");
    expect((await keyhole(home, ["show", "tasks", ...trusted])).out).toContain("Tasks of my own.");
    const sum = ["call", "tasks.sum_up", "a=1", "b=2", "--allow-write", ...trusted];
    expect((await keyhole(home, sum)).out).toContain('{"a":1,"b":2}');
    expect(await keyhole(home, ["ask", "x", "--profile", "play", ...trusted])).toMatchObject({
      code: 1,
      errors: expect.stringContaining("profile play not found; profiles: work"),
    });
    // The config switched the audit log off.
    expect((await keyhole(home, ["logs", "calls"])).out).not.toContain("call-");
  },
);

verifies(
  "config:one-broken",
  "a broken server, an unknown field and a lost one are told, and the others work",
  async () => {
    const home = temporaryFolder();
    const config = write(home, "mcp.json", {
      theme: "dark",
      mcpServers: {
        good: { ...chaos(), excludeTool: ["add"], autoApprove: ["add"], timeout: 5_000 },
        helper: { url: "https://x.example/mcp", headersHelper: "./get" },
        nothing: {},
        text: "npx server",
        wrong: { command: "x", args: "y" },
      },
      overrides: { goood: {} },
    });
    const { out, errors } = await keyhole(home, ["servers", "--config", config]);
    expect(out).toMatch(/servers {2}1\n.* waits for approval/);
    for (const sentence of [
      `${config}:10:7: excludeTool is an unknown field; did you mean excludeTools?`,
      "autoApprove is not carried over.",
      'the server "helper": Keyhole has no headersHelper',
      'the server "nothing": it has neither a command nor a url',
      'the server "text": it is not an object',
      'the server "wrong": args',
      "name the server goood, which is not there; did you mean good?",
    ])
      expect(errors).toContain(sentence);
  },
);

test("one broken server of the settings leaves the others and the settings alone", async () => {
  const home = temporaryFolder();
  write(home, ".keyhole/settings.json", {
    mcpServers: { good: chaos(), bad: { command: 7 } },
    audit: { enabled: false },
  });
  const { out, errors } = await keyhole(home, ["servers"]);
  expect(out).toMatch(/good +waits for approval/);
  expect(errors).toContain("The configuration of the server bad cannot be used: command");
});

verifies(
  "config:secrets",
  "a config names secrets and inputs, whose values are kept outside it",
  async () => {
    const home = temporaryFolder();
    const config = write(home, ".vscode/mcp.json", {
      inputs: [{ id: "key", type: "promptString", password: true }],
      servers: { tasks: chaos({ CHAOS_DESCRIPTION: "${input:key}" }) },
    });
    const missing = await keyhole(home, ["ask", "tasks", "--config", config, "--trust"]);
    expect(missing.out + missing.errors).toContain("keyhole secrets set key");
    expect((await keyhole(home, ["secrets", "--config", config])).out).toBe(
      "key  missing: keyhole secrets set key  used by tasks\n",
    );
    const gateway = createGateway({
      domains: [],
      sources: fromMcpConfig(JSON.parse(readFileSync(config, "utf8")), {
        trusted: true,
        variables: { ...process.env, "secret:key": "Adds two numbers, says the secret." },
      }),
    });
    onTestFinished(() => gateway.close());
    const { text } = await gateway.help({ path: "tasks.add" });
    expect(text).toContain("says the secret");
  },
);

test.skipIf(process.platform === "win32")("a command waits for a server that is slow to start", async () => {
  const home = temporaryFolder();
  // The sandbox cannot know the paths inside a script.
  const args = ["-c", `sleep 0.3; exec ${process.execPath} ${CHAOS}`];
  const slow = { command: "sh", args, sandbox: false };
  const config = write(home, "mcp.json", { mcpServers: { slow } });
  const { out } = await keyhole(home, ["ask", "add two numbers", "--json", "--config", config, "--trust"]);
  expect(JSON.parse(out).hits[0]).toMatchObject({ route: "slow://tools/add" });
});
