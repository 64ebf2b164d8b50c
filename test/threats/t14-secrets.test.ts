import { globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createDiskResultStore, createGateway, onEvent } from "keyhole";
import { createAgent, createSessionLogs, run } from "keyhole/agent";
import { createScriptedModel } from "keyhole/testing";
import { afterEach, expect, test } from "vitest";
import { hideSecrets, knowSecrets } from "../../src/base/safety/known-secrets.ts";
import type { KeyholeEvent } from "../../src/core/telemetry/events.ts";
import { createLogLines } from "../../src/core/telemetry/log-line.ts";
import { startTelemetry } from "../../src/core/telemetry/start-telemetry.ts";
import { createMcpServer } from "../../src/faces/mcp/mcp-server.ts";
import { secretsOf } from "../../src/program/open/settings-schema.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { startLoopbackApi } from "../loopback-api.ts";
import { connect } from "../mcp/connect.ts";
import { PLANTED } from "../planted-secrets.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { operator, PATIENT } from "../upstream-kit.ts";
import {
  ADDRESSES,
  ARGS,
  CANARIES,
  ENV,
  HEADERS,
  leaksIn,
  QUERY,
  SETTINGS,
  UNNAMED_ENV,
  VARIABLES,
} from "./canaries.ts";
import { openProgram } from "./program.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const LEAKY = resolve("test/threats/leaky-upstream.ts");
const TOOLS = ["get_text", "get_data", "get_failure", "get_error", "get_crash"];

function filesIn(folder: string): string {
  return globSync("**/*", { cwd: folder })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

test("T14: an answer has no secret of a definition, neither in its text nor in its data", async () => {
  const secret = "kq-Definition-7f31c09a55";
  knowSecrets([secret]);
  const tool = { name: "get_report", description: `Get a report with ${secret}.`, execute: () => "done" };
  const domain = { name: "office", description: `Reports for ${secret}.`, tools: [tool] };
  const gateway = createGateway({ domains: [domain] });
  open.push(gateway);
  const answers = [
    await gateway.ask({ query: "report" }),
    await gateway.help({ path: "office.report.get" }),
    await gateway.exec({ op: `office.${secret}` }),
  ];
  expect(JSON.stringify(answers[0])).toContain("office.report.get");
  expect(answers.filter((answer) => JSON.stringify(answer).includes(secret))).toEqual([]);
});

test("T14: no planted secret reaches a model, a client, a log, a trace, a session or a stored result", async () => {
  expect(new Set(CANARIES).size).toBeGreaterThanOrEqual(60);
  const folder = temporaryFolder();
  const api = await startLoopbackApi();
  const url = `http://127.0.0.1:1/mcp?${new URLSearchParams(QUERY)}`;
  const args = [LEAKY, ...ARGS, ...Object.keys(VARIABLES).map((name) => `--x=\${${name}}`)];
  const config = { command: process.execPath, args, env: { ...ENV, ...UNNAMED_ENV, ...ADDRESSES } };
  const options = { trusted: true, variables: VARIABLES, limits: PATIENT };
  const results = createDiskResultStore({ path: join(folder, "results") });
  const gateway = createGateway({
    domains: [],
    sources: [
      createMcpSource("leaky", config, options),
      createMcpSource("remote", { url, headers: HEADERS }, options),
    ],
    results,
    limits: { resultTokens: 400 },
    principal: operator,
  });
  const providers = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, apiKey]) => [name, { apiKey, model: "m" }]),
  );
  knowSecrets(secretsOf({ providers, telemetry: {}, mcpServers: {} } as never));

  const events: KeyholeEvent[] = [];
  open.push({ close: onEvent((event) => events.push(event)) });
  const telemetry = await startTelemetry({ enabled: true, endpoint: api.url });
  open.push(api, gateway, { close: () => results.clear() }, { close: () => telemetry?.close() });

  const shown: unknown[] = [await gateway.ask({ query: "tell everything" })];
  for (const name of TOOLS) shown.push(await gateway.exec({ op: `leaky.${name}` }));
  shown.push(await gateway.get({ routes: TOOLS.map((name) => ({ route: `leaky://tools/${name}` })) }));
  shown.push(
    await gateway.help({ path: "root" }),
    Object.values(SETTINGS).map((key) => hideSecrets(`key ${key}`)),
  );
  const server = createMcpServer(gateway, { surface: "native" });
  open.push(server);
  const { client, received } = await connect(server, "2026-07-28");
  for (const { name } of (await client.listTools()).tools)
    await client.callTool({ name, arguments: {} }).catch((error: unknown) => shown.push(String(error)));

  const sessions = createSessionLogs({ path: join(folder, "sessions") });
  const said = [...Object.values(PLANTED).map(({ written }) => written), ...CANARIES].join("\n");
  const model = createScriptedModel([
    { calls: [{ name: "exec", args: { op: "leaky.get_text", args: {} } }] },
    { text: said },
  ]);
  for await (const event of run(createAgent({ gateway, model, sessions }), `Use ${said}`))
    if (event.type === "tool-end") shown.push(event);
  await telemetry?.flush();

  const lines = events.map(createLogLines("debug")).join("\n");
  const traces = api.seen.map(({ body }) => body.toString()).join("\n");
  const written = filesIn(folder);
  expect(shown.length).toBeGreaterThan(TOOLS.length);
  expect(received.length).toBeGreaterThan(TOOLS.length);
  expect(lines).toContain("leaky");
  expect(traces).toContain("leaky");
  expect(written).toContain("[secret]");
  const places = {
    shown: JSON.stringify(shown),
    received: received.join("\n"),
    events: JSON.stringify(events),
    lines,
    traces,
    written,
  };
  const leaks = Object.entries(places).map(([place, text]) => [place, leaksIn(text)] as const);
  const unknown = Object.entries(PLANTED).filter(([, { secret }]) => written.includes(secret));
  expect(CANARIES.length + Object.keys(PLANTED).length).toBeGreaterThanOrEqual(60);
  expect(leaks).toEqual(Object.keys(places).map((place) => [place, []]));
  expect(unknown.map(([name]) => name)).toEqual([]);
});

test("T14: the program prints and keeps no secret of its configuration, not even when it crashes", async () => {
  const program = openProgram({ env: { ...VARIABLES, KEYHOLE_DEBUG: "1", LOG_LEVEL: "debug" } });
  const config = {
    command: process.execPath,
    args: [LEAKY, ...ARGS],
    env: { ...ENV, ...UNNAMED_ENV, ...ADDRESSES },
  };
  program.write("mcp.json", { mcpServers: { leaky: config } });
  const ended = [];
  for (const name of ["get_text", "get_crash"])
    ended.push(await program.keyhole("call", `leaky.${name}`, "--config", "mcp.json", "--trust"));
  program.write("broken.config.ts", `throw new Error(Object.values(process.env).join(" "));`);
  ended.push(await program.keyhole("call", "a.b", "--config", "broken.config.ts"));
  expect(ended[0]?.out).toContain("[secret]");
  expect(ended.at(-1)?.errors).toContain("[secret]");
  expect(ended.flatMap(({ out, errors }) => leaksIn(`${out}${errors}`))).toEqual([]);
  expect(leaksIn(filesIn(program.home))).toEqual([]);
});

test("T14: telemetry carries the shapes of arguments, never their values", async () => {
  const gateway = createGateway({ domains: [] });
  const events: KeyholeEvent[] = [];
  open.push(gateway, { close: onEvent((event) => events.push(event)) });
  await gateway.exec({ op: "a.b", args: { card: "4111 1111 1111 1111", note: "nobody's business" } });
  expect(JSON.stringify(events)).not.toMatch(/4111|business/);
  expect(events).toContainEqual(
    expect.objectContaining({
      argumentShape: { op: "string(3)", args: { card: "string(19)", note: "string(17)" } },
    }),
  );
});

test("T14: values that are short or common stay, so that ordinary text is not garbled", () => {
  knowSecrets(["true", "1234", "debug", "production", "postgres", "changeme", "eu-1"]);
  const text = "true 1234 debug production postgres changeme eu-1";
  expect(hideSecrets(text)).toBe(text);
});
