import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { installTool } from "../scripts/tool.ts";
import type { SandboxLimits } from "../src/core/nouns/server-program.ts";
import { deniedPaths, proposeLimits } from "../src/sources/isolation/propose-limits.ts";
import type { ServerIsolation } from "../src/sources/mcp/config/to-launch.ts";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { isolationMissing } from "./bubblewrap.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";
import { eventually, gatewayOf, PATIENT } from "./upstream-kit.ts";

const fault = await isolationMissing();
const tools = fault === undefined ? await unlessUnreachable(() => installTool("servers")) : undefined;
const CHROMIUM = "/usr/bin/chromium";
const WAIT_MS = 180_000;
const { resolve } = createRequire(import.meta.url);

type Config = Parameters<typeof createMcpSource>[1];
/** A call. `uid:WORD` in its arguments is the element with this word in the last snapshot of a page. */
type Call = readonly [tool: string, args?: object];

/** Starts a server of a person with a home and a project of their own. */
async function start(label: string, config: Config, home: string, isolation: Partial<ServerIsolation>) {
  const environment = { PATH: process.env.PATH, HOME: home };
  const source = createMcpSource(label, config, {
    ...{ trusted: true, environment, cwd: join(home, "project"), limits: PATIENT },
    isolation: { hidden: [join(home, ".keyhole")], ...isolation },
  });
  const gateway = gatewayOf([source], { ask: "never" });
  onTestFinished(() => gateway.close());
  const listed = async () =>
    (await gateway.view()).entries.filter(({ kind, status }) => kind === "tool" && status === undefined);
  await eventually(async () => expect((await listed()).length).toBeGreaterThan(1), WAIT_MS);
  return { source, gateway, entries: await listed() };
}

/** Tries a server as an approval does, and returns the limits that are proposed for it. */
async function propose(label: string, config: Config, home: string): Promise<SandboxLimits> {
  const hosts: string[] = [];
  const onHost = (_: unknown, host: string) => void hosts.push(host);
  const { source, gateway, entries } = await start(label, config, home, { isTrial: true, onHost });
  const definitions = entries.map(({ origin }) => origin!.definition);
  const paths = deniedPaths(source.diagnostics().stderr);
  await gateway.close();
  const { why: _, ...limits } = proposeLimits(source.limits()!, definitions, { hosts, paths });
  return limits;
}

/** Calls every tool of a server within its proposed limits. Returns the limits and the tools that failed. */
async function callAll(label: string, config: Config, calls: readonly Call[]) {
  const home = temporaryFolder();
  mkdirSync(join(home, "project"));
  const limits = await propose(label, config, home);
  const { gateway, entries } = await start(label, config, home, { accepted: () => limits });
  const ops = new Map(entries.map(({ origin, op }) => [String(origin!.definition.name), op]));
  const failed: string[] = [];
  let snapshot = "";
  const uidOf = (_: string, word: string) => new RegExp(`uid=(\\S+) .*${word}`).exec(snapshot)?.[1] ?? "";
  for (const [tool, given = {}] of calls) {
    const args = JSON.parse(JSON.stringify(given).replace(/uid:(\w+)/g, uidOf));
    const answer = await gateway.exec({ op: ops.get(tool) ?? tool, args, dryRun: false });
    if (tool === "take_snapshot") snapshot = answer.text;
    if (!answer.ok || /<untrusted[^>]*>\s*(?:### )?Error/i.test(answer.text))
      failed.push(`${tool}: ${answer.text}`);
  }
  const uncalled = [...ops.keys()].filter((name) => !calls.some(([tool]) => tool === name));
  return { limits, failed, uncalled };
}

/** Answers every request with the same text, on an address that stands for a host of the internet. */
async function serve(type: string, text: string, onRequest = () => {}): Promise<string> {
  const host = createServer((_, answer) => {
    onRequest();
    answer.setHeader("content-type", type).end(text);
  });
  await new Promise<void>((done) => host.listen(0, "127.0.0.2", done));
  onTestFinished(() => {
    host.close();
    host.closeAllConnections();
  });
  return `127.0.0.2:${(host.address() as AddressInfo).port}`;
}

const official = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js"), ...args],
});
const installed = (file: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(tools!, "node_modules", file), ...args],
});

verifies("upstream:limits", "all tools of filesystem, memory and everything work", async ({ skip }) => {
  if (fault !== undefined) return skip();
  const data = temporaryFolder();
  const at = (name: string) => join(data, name);
  const files = await callAll("files", official("server-filesystem", data), [
    ["list_allowed_directories"],
    ["create_directory", { path: at("new") }],
    ["write_file", { path: at("a.txt"), content: "one\n" }],
    ["edit_file", { path: at("a.txt"), edits: [{ oldText: "one", newText: "two" }] }],
    ["read_file", { path: at("a.txt") }],
    ["read_text_file", { path: at("a.txt") }],
    ["read_media_file", { path: at("a.txt") }],
    ["read_multiple_files", { paths: [at("a.txt")] }],
    ["list_directory", { path: data }],
    ["list_directory_with_sizes", { path: data }],
    ["directory_tree", { path: data }],
    ["search_files", { path: data, pattern: "a*" }],
    ["get_file_info", { path: at("a.txt") }],
    ["move_file", { source: at("a.txt"), destination: at("b.txt") }],
  ]);
  expect(files).toMatchObject({ limits: { network: "none" }, failed: [], uncalled: [] });
  expect(existsSync(at("b.txt"))).toBe(true);
  const entity = { name: "Ada", entityType: "person", observations: ["writes"] };
  const relation = { from: "Ada", to: "Ada", relationType: "knows" };
  const env = { MEMORY_FILE_PATH: at("memory.jsonl") };
  const memory = await callAll("memory", { ...official("server-memory"), env }, [
    ["create_entities", { entities: [entity] }],
    ["create_relations", { relations: [relation] }],
    ["add_observations", { observations: [{ entityName: "Ada", contents: ["reads"] }] }],
    ["read_graph"],
    ["search_nodes", { query: "Ada" }],
    ["open_nodes", { names: ["Ada"] }],
    ["delete_observations", { deletions: [{ entityName: "Ada", observations: ["reads"] }] }],
    ["delete_relations", { relations: [relation] }],
    ["delete_entities", { entityNames: ["Ada"] }],
  ]);
  expect(memory).toMatchObject({ limits: { network: "none" }, failed: [], uncalled: [] });
  const everything = await callAll("everything", official("server-everything"), [
    ["echo", { message: "hi" }],
    ["get-annotated-message", { messageType: "success" }],
    ["get-env"],
    ["get-resource-links", { count: 2 }],
    ["get-resource-reference", { resourceType: "Text", resourceId: 1 }],
    ["get-structured-content", { location: "Chicago" }],
    ["get-sum", { a: 1, b: 2 }],
    ["get-tiny-image"],
    ["gzip-file-as-resource", { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" }],
    ["toggle-simulated-logging"],
    ["toggle-subscriber-updates"],
    ["trigger-long-running-operation", { duration: 0.1, steps: 1 }],
  ]);
  // One is a task that a client has to follow, the others ask the client.
  expect(everything).toMatchObject({ limits: { network: "all" }, failed: [] });
  expect(everything.uncalled.toSorted()).toEqual([
    "get-roots-list",
    "simulate-research-query",
    "trigger-elicitation-request",
    "trigger-sampling-request",
  ]);
});

verifies("upstream:limits", "all tools of Notion reach its API, and no other host", async ({ skip }) => {
  if (tools === undefined) return skip();
  let asked = 0;
  const address = await serve("application/json", '{"object":"list","results":[]}', () => {
    asked += 1;
  });
  const env = { NOTION_TOKEN: "ntn_none", BASE_URL: `http://${address}` };
  const config = { ...installed("@notionhq/notion-mcp-server/bin/cli.mjs"), env };
  const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  const [block_id, page_id, data_source_id] = [id, id, id];
  const parent = { page_id: id };
  const properties = { title: [{ text: { content: "x" } }] };
  const calls: readonly Call[] = [
    ["API-get-user", { user_id: id }],
    ["API-get-users"],
    ["API-get-self"],
    ["API-post-search", { query: "x" }],
    ["API-get-block-children", { block_id }],
    ["API-patch-block-children", { block_id, children: [] }],
    ["API-retrieve-a-block", { block_id }],
    ["API-update-a-block", { block_id, archived: true }],
    ["API-delete-a-block", { block_id }],
    ["API-retrieve-a-page", { page_id }],
    ["API-patch-page", { page_id, archived: true }],
    ["API-post-page", { parent, properties }],
    ["API-retrieve-a-page-property", { page_id, property_id: "x" }],
    ["API-retrieve-a-comment", { block_id }],
    ["API-create-a-comment", { parent, rich_text: [{ text: { content: "x" } }] }],
    ["API-query-data-source", { data_source_id }],
    ["API-retrieve-a-data-source", { data_source_id }],
    ["API-update-a-data-source", { data_source_id }],
    ["API-create-a-data-source", { parent, properties: {} }],
    ["API-list-data-source-templates", { data_source_id }],
    ["API-retrieve-a-database", { database_id: id }],
    ["API-move-page", { page_id, parent: { type: "page_id", page_id } }],
    ["API-retrieve-page-markdown", { page_id }],
    ["API-update-page-markdown", { page_id, type: "replace_content", replace_content: { new_str: "x" } }],
  ];
  const notion = await callAll("notion", config, calls);
  expect(notion).toMatchObject({ limits: { network: [address] }, failed: [], uncalled: [] });
  expect(asked).toBe(calls.length);
});

const PAGE = `<title>Keyhole</title><h1>In the sandbox</h1><input id=i><select id=s><option>one<option>two</select>
<button id=b onclick="console.log('hi')">press</button><input type=file id=f>
<button id=d onclick="alert(1)">ask</button><p id=p ondragover="event.preventDefault()">drop</p>`;

verifies("upstream:limits", "the tools of Playwright work", async ({ skip }) => {
  if (tools === undefined || !existsSync(CHROMIUM)) return skip();
  const browser = ["--headless", "--no-sandbox", "--isolated", "--executable-path", CHROMIUM];
  const url = `http://${await serve("text/html", PAGE)}/`;
  const playwright = await callAll("playwright", installed("@playwright/mcp/cli.js", ...browser), [
    ["browser_navigate", { url }],
    ["browser_snapshot"],
    ["browser_resize", { width: 800, height: 600 }],
    ["browser_console_messages", { level: "info" }],
    ["browser_emulate_media", { colorScheme: "dark" }],
    ["browser_evaluate", { function: "() => 1 + 1" }],
    ["browser_find", { text: "sandbox" }],
    ["browser_fill_form", { fields: [{ name: "i", type: "textbox", target: "#i", value: "x" }] }],
    ["browser_type", { target: "#i", text: "hello" }],
    ["browser_press_key", { key: "a" }],
    ["browser_select_option", { target: "#s", values: ["two"] }],
    ["browser_hover", { target: "#b" }],
    ["browser_click", { target: "#b" }],
    ["browser_drag", { startElement: "b", startTarget: "#b", endElement: "i", endTarget: "#i" }],
    ["browser_drop", { target: "#p", data: { "text/plain": "x" } }],
    ["browser_network_requests", { static: true }],
    ["browser_network_request", { index: 1 }],
    ["browser_click", { target: "#f" }],
    ["browser_file_upload", { paths: [] }],
    ["browser_click", { target: "#d" }],
    ["browser_handle_dialog", { accept: true }],
    ["browser_run_code_unsafe", { code: "async (page) => page.title()" }],
    ["browser_take_screenshot", { scale: "css" }],
    ["browser_tabs", { action: "list" }],
    ["browser_wait_for", { time: 0.1 }],
    ["browser_navigate_back"],
    ["browser_close"],
  ]);
  expect(playwright).toMatchObject({ limits: { network: "all" }, failed: [], uncalled: [] });
});

verifies("upstream:limits", "the tools of Chrome DevTools work", async ({ skip }) => {
  if (tools === undefined || !existsSync(CHROMIUM)) return skip();
  const browser = ["--headless", "--isolated", "--executablePath", CHROMIUM, "--chromeArg=--no-sandbox"];
  const url = `http://${await serve("text/html", PAGE)}/`;
  const pageId = 2;
  const { limits, failed, uncalled } = await callAll(
    "devtools",
    installed("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", ...browser),
    [
      ["new_page", { url }],
      ["list_pages"],
      ["select_page", { pageId }],
      ["take_snapshot", { pageId }],
      ["click", { pageId, uid: "uid:press" }],
      ["hover", { pageId, uid: "uid:press" }],
      ["fill", { pageId, uid: "uid:textbox", value: "x" }],
      ["fill_form", { pageId, elements: [{ uid: "uid:textbox", value: "y" }] }],
      ["type_text", { pageId, text: "z" }],
      ["drag", { pageId, from_uid: "uid:press", to_uid: "uid:textbox" }],
      ["get_css_styles", { pageId, uid: "uid:press" }],
      ["take_screenshot", { pageId }],
      ["evaluate_script", { pageId, function: "() => 1 + 1" }],
      ["list_console_messages", { pageId }],
      ["get_console_message", { pageId, msgid: 1 }],
      ["list_network_requests", { pageId }],
      ["get_network_request", { pageId, reqid: 1 }],
      ["press_key", { pageId, key: "a" }],
      ["resize_page", { pageId, width: 800, height: 600 }],
      ["emulate", { pageId, colorScheme: "dark" }],
      ["wait_for", { pageId, text: ["sandbox"] }],
      ["navigate_page", { pageId, type: "reload" }],
      ["performance_start_trace", { pageId, reload: false, autoStop: false }],
      ["performance_stop_trace", { pageId }],
      ["close_page", { pageId }],
    ],
  );
  expect({ limits, failed }).toEqual({ limits: { network: "all" }, failed: [] });
  // They need an open dialog, a recorder of films, a finished trace or minutes.
  expect(uncalled.sort()).toEqual([
    ...["handle_dialog", "lighthouse_audit", "performance_analyze_insight", "screencast_start"],
    ...["screencast_stop", "take_heapsnapshot", "upload_file"],
  ]);
});
