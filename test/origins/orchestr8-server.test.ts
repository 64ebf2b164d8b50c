// The server of the prompt library's document (Orchestr8): MCP clients, index files and logs.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type KeyholeEvent, onEvent } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, ERAS } from "../mcp/connect.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { ORCHESTR8, openLibrary, saveAll } from "./orchestr8-library.ts";

const WAIT = { timeout: 30_000, interval: 5 };

describe.each(ERAS)("a client of %s", (era) => {
  test("lists resources by their URIs and a template for each category", async () => {
    const { gateway } = openLibrary();
    const { client } = await connect(createMcpServer(gateway), era);
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({
        uri: "orchestr8://agents/typescript-developer",
        mimeType: "text/markdown",
        description: expect.stringContaining("TypeScript"),
      }),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort()).toEqual([
      "orchestr8://agents/match{+rest}",
      "orchestr8://examples/match{+rest}",
      "orchestr8://guides/match{+rest}",
      "orchestr8://match{+rest}",
      "orchestr8://patterns/match{+rest}",
      "orchestr8://skills/match{+rest}",
    ]);
  });

  test.each([
    ["orchestr8://agents/typescript-developer", "# TypeScript Developer Agent"],
    ["@orchestr8://agents/typescript-developer", "# TypeScript Developer Agent"],
    ["@orchestr8://match?query=typescript+async&maxTokens=2500&mode=catalog", "# Resource Catalog"],
    ["orchestr8://agents/match?query=typescript+api&maxTokens=2000", "typescript-api-development"],
  ])("reads %s", async (uri, text) => {
    const { gateway } = openLibrary();
    const { client } = await connect(createMcpServer(gateway), era);
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: "text/markdown", text: expect.stringContaining(text) }]);
  });

  test("learns which resource was not found", async () => {
    const { gateway } = openLibrary();
    const { client } = await connect(createMcpServer(gateway), era);
    const uri = "@orchestr8://agents/nonexistent";
    const error = await client.readResource({ uri }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: -32602 });
    expect(JSON.stringify([String(error), (error as { data?: unknown }).data])).toContain(
      "agents/nonexistent",
    );
  });

  test("gets a prompt as one message of the user", async () => {
    const { gateway } = openLibrary();
    const { client } = await connect(createMcpServer(gateway), era);
    const { prompts } = await client.listPrompts();
    expect(prompts).toContainEqual(
      expect.objectContaining({
        name: "new-project",
        title: "Create New Project",
        description: "Create a new software project with best practices",
        arguments: [{ name: "description", description: "Project description", required: true }],
      }),
    );
    const { messages } = await client.getPrompt({
      name: "new-project",
      arguments: { description: "REST API" },
    });
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "Create a project: REST API" } },
    ]);
  });
});

describe("logs", () => {
  const BROKEN = { "resources/agents/broken.md": "---\ntags: [unclosed\n---\nText." };

  test("a broken file is reported by an event, and the others are served", async () => {
    const events: KeyholeEvent[] = [];
    onTestFinished(onEvent((event) => events.push(event)));
    const { gateway, read } = openLibrary({ ...ORCHESTR8, ...BROKEN });
    await gateway.ready();
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        notice: "content-failed",
        detail: expect.stringMatching(/resources\/agents\/broken\.md:\d+:\d+: /),
      }),
    );
    expect(await read("orchestr8://agents/typescript-core")).toContain("# TypeScript Core");
  });

  /** Serves the library over stdio, lists its resources, and ends. */
  async function serve(env: Readonly<Record<string, string>>) {
    const directory = temporaryFolder();
    saveAll(directory, { ...ORCHESTR8, ...BROKEN });
    const config = join(directory, "keyhole.config.ts");
    const door = resolve("src/sources/index.ts");
    writeFileSync(
      config,
      `import { createMarkdownSource } from ${JSON.stringify(door)};
console.log("a config that prints");
const library = createMarkdownSource("orchestr8", {
  directory: ${JSON.stringify(directory)}, description: "Agents.", scheme: "orchestr8", watch: false,
});
export const sources = [library];
`,
    );
    const child = spawn(process.execPath, ["src/program/main.ts", "serve", "--config", config], {
      env: { ...process.env, XDG_CACHE_HOME: join(directory, "cache"), HOME: directory, ...env },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const initialize = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    send({ id: 1, method: "initialize", params: initialize });
    await vi.waitFor(() => expect(output.stdout).toContain('"id":1'), WAIT);
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "resources/read", params: { uri: "@orchestr8://agents/typescript-core" } });
    await vi.waitFor(() => expect(output.stdout).toContain('"id":2'), WAIT);
    child.stdin.end();
    await new Promise((done) => child.once("exit", done));
    return output;
  }

  test("a broken file is reported on stderr with its place, and stdout has only the protocol", async () => {
    const { stdout, stderr } = await serve({});
    expect(stderr).toMatch(/warn.*resources\/agents\/broken\.md:\d+:\d+: /);
    expect(stderr).toContain("a config that prints");
    for (const line of stdout.trimEnd().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(stdout).toContain("# TypeScript Core");
  });

  test("LOG_LEVEL chooses what is logged", async () => {
    expect((await serve({ LOG_LEVEL: "error" })).stderr).not.toContain("broken.md");
    const debug = await serve({ LOG_LEVEL: "debug" });
    expect(debug.stderr).toMatch(/debug.*resources\/read/);
    expect(debug.stderr).toContain("broken.md");
  });
});
