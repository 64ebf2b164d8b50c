import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { createDiskResultStore, createGateway } from "keyhole";
import {
  type AgentEvent,
  createAgent,
  createPermissions,
  createSessionLogs,
  run,
  workspaceDomain,
} from "keyhole/agent";
import { fromMcpConfig } from "keyhole/sources";
import {
  type ModelScript,
  type ScriptedReply,
  type ScriptedRequest,
  serveScriptedModel,
} from "keyhole/testing";
import { expect, onTestFinished } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import type { AskRequest } from "../src/agent/loop/run-context.ts";
import { verifies } from "./claims.ts";
import { PLANTED } from "./planted-secrets.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const { resolve } = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);

type Reply = ScriptedReply | ((request: ScriptedRequest) => ScriptedReply);

/** An agent with a website, an MCP server from npm and a folder, over OpenAI's wire format. */
async function openAgent(data: string, project: string, replies: readonly Reply[]) {
  const script: ModelScript = (request, turn) => {
    const reply = replies[turn] ?? { text: `The script has no reply to request ${turn + 1}.` };
    return typeof reply === "function" ? reply(request) : reply;
  };
  const server = await serveScriptedModel(script);
  const cms = createCms();
  const asked: AskRequest[] = [];
  const results = createDiskResultStore({ path: join(data, "context") });
  const gateway = createGateway({
    domains: [cms.domain, workspaceDomain({ permissions: createPermissions({ root: project }) })],
    sources: fromMcpConfig(
      { mcpServers: { everything: { command: process.execPath, args: [EVERYTHING] } } },
      { trusted: true },
    ),
    results,
    limits: { resultTokens: 150 },
    principal: { id: "ed", scopes: [], allowWrite: true },
  });
  const close = async () => {
    await gateway.close();
    results.clear();
    await cms.close();
    await server.close();
  };
  await expect
    .poll(async () => (await gateway.view()).find("everything.get-sum")?.op, { timeout: 60_000 })
    .toBe("everything.get-sum");
  const agent = createAgent({
    gateway,
    model: createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).chat("scripted"),
    sessions: createSessionLogs({ path: join(data, "sessions"), folder: project }),
    ask: async (request) => {
      asked.push(request);
      return "once";
    },
  });
  return { agent, server, asked, close, gateway };
}

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const search = (query: string): ScriptedReply => ({ calls: [{ name: "tool_search", args: { query } }] });
const call = (name: string, args = {}): ScriptedReply => ({ calls: [{ name, args }] });
const last = (request: ScriptedRequest) => request.messages.at(-1)?.text ?? "";
const endOf = (events: readonly AgentEvent[]) => events.at(-1) as Extract<AgentEvent, { type: "agent-end" }>;
const toolEnds = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "tool-end" ? [`${event.tool} ${event.ok}`] : []));

verifies("agent:conversation", "discover, call, permission, large result, second turn, resume", async () => {
  const data = temporaryFolder();
  const project = temporaryFolder();
  const written = Object.values(PLANTED).map((plant) => plant.written);
  writeFileSync(join(project, "notes.txt"), ["Opening hours: 9 to 5", ...written].join("\n"));
  let handle = "";
  const first = await openAgent(data, project, [
    // Turn one: discover, then call three tools at once.
    search("list pages"),
    {
      calls: [
        { name: "cms_listPages", args: {} },
        { name: "cms_getPage", args: { page: "press" } },
        { name: "cms_getNavigation", args: {} },
      ],
    },
    // The result is large, so the rest is read by its handle.
    (request) => {
      handle = /result:\/\/[\w-]+/.exec(request.messages.map(({ text }) => text).join("\n"))?.[0] ?? "";
      return call("get", { routes: [{ route: handle, params: { count: true } }] });
    },
    (request) => ({ text: `There are some: ${/"count":(\d+)/.exec(last(request))?.[1]}` }),
    // Turn two: tools found before, the npm server, a destructive call, a file with secrets.
    search("sum of two numbers"),
    (request) => call(request.tools.find((name) => name.includes("sum")) ?? "none", { a: 2, b: 40 }),
    search("delete page"),
    call("cms_deletePage", { page: "press" }),
    search("write a file of the project"),
    (request) =>
      call(request.tools.find((name) => /write/.test(name)) ?? "none", { path: "sum.txt", text: "42\n" }),
    search("read a file of the project"),
    (request) =>
      call(request.tools.find((name) => /(?:^|_)read$/.test(name)) ?? "none", { path: "notes.txt" }),
    { text: "All of it is done." },
  ]);
  const session = await first.agent.openSession();
  const one = await all(run(first.agent, "Which pages are there?", { session }));
  // A related tool came along. Calling a tool that was not found discovers it and reads at once.
  expect(toolEnds(one).sort()).toEqual([
    "cms_getPage true",
    "cms_listPages true",
    "get true",
    "tool_search true",
    "tool_search true",
  ]);
  expect(handle).toMatch(/^result:/);
  expect(endOf(one)).toMatchObject({ outcome: "answered", text: expect.stringMatching(/some: \d+$/) });
  expect(first.server.requests[0]?.tools).toEqual([
    ...["delete", "edit", "list", "read", "search", "shell", "write"],
    "tool_search",
  ]);
  const [kept = ""] = readdirSync(join(data, "context"));
  expect(readdirSync(join(data, "context", kept)).length).toBeGreaterThan(0);

  const two = await all(run(first.agent, "Add 2 and 40, delete press, note it", { session }));
  expect(endOf(two)).toMatchObject({ outcome: "answered", text: "All of it is done." });
  expect(toolEnds(two).filter((line) => line.endsWith("false"))).toEqual([]);
  expect(first.server.requests.map(last).join("\n")).toContain("42");
  expect(first.asked.map(({ scope }) => scope)).toEqual(["tool", "fs-write"]);
  expect(first.asked[0]?.action).toContain("press");
  expect(readFileSync(join(project, "sum.txt"), "utf8")).toBe("42\n");
  expect(two.find((event) => event.type === "tool-end" && event.diff !== undefined)).toBeDefined();
  await session.end();
  await first.close();

  // The disk has the conversation, readable by its owner only, without context and secrets.
  const [file = ""] = readdirSync(join(data, "sessions"));
  expect(statSync(join(data, "sessions", file)).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(data, "context"))).toEqual([]);
  const stored = readFileSync(join(data, "sessions", file), "utf8");
  expect(stored).toContain("Opening hours");
  const found = Object.values(PLANTED).filter(({ secret }) => stored.includes(secret));
  expect(found).toEqual([]);

  // Another process resumes with messages and events, but without large results, and says so.
  const second = await openAgent(data, project, [
    () => call("get", { routes: [{ route: handle }] }),
    (request) => ({ text: last(request).includes("UNKNOWN_HANDLE") ? "It is gone." : "It is there." }),
  ]);
  onTestFinished(second.close);
  const resumed = await second.agent.openSession({ resume: "last" });
  expect(resumed.id).toBe(session.id);
  expect(resumed.messages).toHaveLength(session.messages.length);
  expect(resumed.restored.filter(({ type }) => type === "tool-end")).toHaveLength(
    [...one, ...two].filter(({ type }) => type === "tool-end").length,
  );
  const three = await all(run(second.agent, "And the rest of the list?", { session: resumed }));
  expect(three[1]).toMatchObject({ type: "notice", text: expect.stringContaining("call the tools again") });
  expect(endOf(three)).toMatchObject({ outcome: "answered", text: "It is gone." });
  const roles = second.server.requests[0]?.messages.map(({ text }) => text).join("\n");
  expect(roles).toContain("And the rest of the list?");
  await resumed.end();
});
