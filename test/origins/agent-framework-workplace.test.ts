// Walks the document of the agent framework: streams, permissions, sessions and context.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { workspaceDomain } from "keyhole/agent";
import { createLLMClient } from "keyhole/models";
import { serveScriptedModel } from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { setUpPermissions } from "../set-up-permissions.ts";
import { openTerminalAgent } from "./terminal-agent.ts";

test("stream: start once, a retry for each failed start, chunks, then the end with its usage", async () => {
  const busy = { error: { status: 503, message: "down" } };
  const server = await serveScriptedModel([busy, { text: "Hi there!", usage: { input: 8, output: 3 } }]);
  onTestFinished(() => server.close());
  const told: unknown[] = [];
  const client = createLLMClient({
    config: { providers: { default: "local", local: { baseUrl: `${server.url}/v1`, model: "phi4" } } },
    retry: { baseDelayMs: 1, maxDelayMs: 1 },
    callbacks: {
      onStreamStart: () => told.push("start"),
      onRetry: ({ attempt, error }) => told.push(["retry", attempt, error]),
      onStreamChunk: (chunk) => told.push(chunk),
      onStreamEnd: (usage) => told.push(usage),
      onError: (code) => told.push(code),
    },
  });
  const response = await client.stream("Hello");
  const chunks = response.success ? await Array.fromAsync(response.result) : [];
  expect(chunks.length).toBeGreaterThan(0);
  expect(told.slice(0, 2)).toEqual(["start", ["retry", 1, "NETWORK_ERROR"]]);
  expect(told.slice(2, -1).join("")).toBe("Hi there!");
  expect(told.at(-1)).toEqual({ promptTokens: 8, completionTokens: 3, totalTokens: 11 });
});

describe("permissions", () => {
  test.each([
    ["fs-read", "src/a.ts", true],
    ["fs-write", "src/a.ts", false],
    ["fs-delete", "src/a.ts", false],
    ["fs-read", ".env", false],
    ["fs-read", ".env.local", false],
    ["fs-read", "config/credentials.json", false],
    ["fs-read", "my-secret.txt", false],
    ["fs-read", "~/.ssh/id_ed25519", false],
    ["fs-read", "~/.gnupg/secring.gpg", false],
  ] as const)("%s of %s without a rule is allowed: %s", async (scope, path, allowed) => {
    const { permissions, asked } = setUpPermissions({}, "deny");
    expect((await permissions.file(scope, path)).allowed).toBe(allowed);
    expect(asked.length).toBe(allowed ? 0 : 1);
  });

  test("a tool that may not write returns PERMISSION_DENIED and does not throw", async () => {
    const { permissions, root } = setUpPermissions({}, "deny");
    const gateway = createGateway({
      domains: [workspaceDomain({ permissions })],
      principal: { id: "ed", scopes: [], allowWrite: true },
    });
    onTestFinished(() => gateway.close());
    const answer = await gateway.exec({ op: "workspace.write", args: { path: "a.txt", text: "x" } });
    expect(answer).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });
});

describe("sessions and context", () => {
  const LONG = "export const lines = 'a line of a long file';\n".repeat(2_000);
  const search = [
    { calls: [{ name: "tool_search", args: { query: "search in files" } }] },
    { calls: [{ name: "search", args: { pattern: "line", limit: 1_000 } }] },
    { text: "Long." },
  ];

  test("a session's file is kept; large outputs are files of the context that end with the session", async () => {
    const opened = await openTerminalAgent(search, { project: { "long.ts": LONG } });
    const { events } = await opened.ask("Read long.ts");
    expect(events.filter(({ type }) => type === "tool-end").at(-1)).toMatchObject({
      tool: "search",
      ok: true,
    });
    const context = join(opened.home, ".keyhole/context");
    const filesIn = () => (existsSync(context) ? readdirSync(context, { recursive: true }).map(String) : []);
    expect(filesIn().filter((path) => path.endsWith(".db"))).toHaveLength(1);
    await opened.close();
    expect(filesIn().filter((path) => path.endsWith(".db"))).toEqual([]);
    const log = readFileSync(join(opened.home, ".keyhole/sessions", `${opened.session.id}.jsonl`), "utf8");
    expect(log).toContain("Read long.ts");
  });
});
