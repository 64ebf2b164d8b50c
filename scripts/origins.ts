// npm run origins -- --data DIR: tries Keyhole on the data of the projects that docs/origins.md is about, and prints a
// table. The repository has none of that data, only small files of the same shapes in test/origins/originals. DIR has,
// as far as you have them:
//
//   tools/*.json     lists of chat tools ({ type: "function", function }), or of tools with name, description,
//                    category, phrases, relatedTools and riskLevel; each file is a domain
//   rules/*.md       rules by category, for the tools with categories
//   library/         a library of Markdown: prompts/, fragments/ (or resources/), rules/
//   needs.json       what people say, each with the names of the tools that are meant
//   typesense.json   the schema of a collection that another program has left, with its name
//
// The command exits with 1 if a row fails. Parts that DIR lacks are named and fail nothing.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  createGateway,
  createToolbox,
  type DomainDefinition,
  defineTool,
  fromOpenAITools,
  type Gateway,
  onEvent,
} from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createTypesenseIndex } from "keyhole/postgres";
import { createMarkdownSource } from "keyhole/sources";

export interface OriginRow {
  readonly part: string;
  readonly check: string;
  /** Undefined if the folder lacks what the check needs. */
  readonly ok: boolean | undefined;
  readonly found: string;
}

type ChatTool = Parameters<typeof fromOpenAITools>[0][number];
interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly category?: string;
  readonly phrases?: readonly string[];
  readonly relatedTools?: readonly string[];
  readonly riskLevel?: "safe" | "moderate" | "destructive";
}

const MOST_NAMED = 8;
const FIRST_SHARE = 0.64;
const OWNER = { id: "owner", scopes: [], allowWrite: true };

/** Tries everything that a folder has. */
export async function tryOriginals(data: string): Promise<OriginRow[]> {
  return [...(await tryTools(data)), ...(await tryLibrary(data)), ...(await tryTypesense(data))];
}

async function tryTools(data: string): Promise<OriginRow[]> {
  const part = "tools";
  const domains = readDomains(data);
  if (domains.length === 0) return [missing(part, "tools/*.json")];
  const told: string[] = [];
  const stop = onEvent((event) => {
    if (event.type === "notice" && event.notice === "content-failed") told.push(event.detail);
  });
  const gateway = createGateway({ domains, learning: false, principal: OWNER });
  try {
    await gateway.ready();
    const tools = domains.flatMap((domain) => domain.tools ?? []);
    const ops = Object.values((await gateway.report()).registry.ops);
    const without = tools.filter(({ name }) => !ops.some(({ tool_name }) => tool_name === name));
    return [
      row(part, "every tool has an op", without.length === 0, `${ops.length} ops of ${tools.length} tools`),
      ...(await tryPolicies(gateway, tools)),
      await tryCommands(gateway, tools),
      ...(await tryRelated(gateway, tools)),
      row("rules", "spare rules refuse nothing", true, told.length > 0 ? told.join("; ") : "none is spare"),
      ...(await tryNeeds(gateway, data)),
    ];
  } finally {
    stop();
    await gateway.close();
  }
}

function readDomains(data: string): DomainDefinition[] {
  const rules = Object.fromEntries(
    filesIn(join(data, "rules"), ".md").map((file) => [
      basename(file, ".md"),
      readFileSync(file, "utf8").trim(),
    ]),
  );
  return filesIn(join(data, "tools"), ".json").map((file) => {
    const listed: readonly (ChatTool | ListedTool)[] = JSON.parse(readFileSync(file, "utf8"));
    const name = basename(file, ".json").replaceAll(/[^a-zA-Z0-9_-]+/g, "_");
    const domain = { name, description: `The tools of ${basename(file)}.`, execute: () => "" };
    const chat = listed.filter(isChatTool);
    const own = listed.filter((tool): tool is ListedTool => !isChatTool(tool));
    const { tools = [], description } = fromOpenAITools(chat, domain);
    return {
      name,
      description,
      tools: [...tools, ...own.map((tool) => defineTool({ ...tool, execute: () => "" }))],
      ...(own.some(({ category }) => category !== undefined) && { rules }),
    };
  });
}

function isChatTool(tool: ChatTool | ListedTool): tool is ChatTool {
  return "function" in tool;
}

/** Descriptions that say when to use a tool have a policy of whole sentences. */
async function tryPolicies(gateway: Gateway, tools: readonly { name: string; description: string }[]) {
  const check = "policies are whole sentences";
  const saying = tools.filter(({ description }) =>
    /\b(?:do not|don't|never|when):?|[✅❌]/i.test(description),
  );
  if (saying.length === 0) return [];
  const read = await Promise.all(saying.map(({ name }) => gateway.help({ path: name, format: "full" })));
  const policies = read.map((answer) => (answer.kind === "tool" ? answer.policy : undefined));
  const items = policies.flatMap((policy) => [...(policy?.do ?? []), ...(policy?.dont ?? [])]);
  const torn = items.filter((item) => /[:,]$|^[a-z]{0,2}$|^\W*$/.test(item));
  const silent = saying.filter((_, at) => policies[at] === undefined).map(({ name }) => name);
  return [
    row(
      "tools",
      check,
      torn.length === 0,
      `${items.length} sentences of ${saying.length} tools${listed("torn", torn)}`,
    ),
    row(
      "tools",
      "tools that say when to use them have a policy",
      silent.length === 0,
      listed("without", silent) || "all do",
    ),
  ];
}

async function tryCommands(gateway: Gateway, tools: readonly { name: string }[]): Promise<OriginRow> {
  const toolbox = await createToolbox(gateway, { surface: "commands", toolSearch: true });
  const wrong: string[] = [];
  for (const { name } of tools) {
    const { text } = await toolbox.call("tool_search", { query: name });
    if (text.includes("://tools/")) wrong.push(name);
  }
  return row(
    "tools",
    "tool_search of commands speaks ops",
    wrong.length === 0,
    listed("routes for", wrong) || "all do",
  );
}

/** A tool's related tools become available with it, as far as the limit allows. */
async function tryRelated(gateway: Gateway, tools: readonly ListedTool[]): Promise<OriginRow[]> {
  const relating = tools.filter(({ relatedTools = [] }) => relatedTools.length > 0);
  if (relating.length === 0) return [];
  const wrong: string[] = [];
  for (const { name, relatedTools = [] } of relating) {
    const { tools: offered } = await toAISDKTools(gateway, { principal: OWNER });
    const search = offered.tool_search?.execute as (
      input: object,
      options: object,
    ) => Promise<{ tools: ListedTool[] }>;
    const found = await search(
      { query: name, limit: relatedTools.length + 1 },
      { toolCallId: "1", messages: [] },
    );
    const available = new Set(found.tools.map((tool) => tool.name));
    if (!relatedTools.every((related) => available.has(related))) wrong.push(name);
  }
  const found = `${relating.length - wrong.length} of ${relating.length}${listed("not with", wrong)}`;
  return [row("tools", "related tools become available with the hit", wrong.length === 0, found)];
}

async function tryNeeds(gateway: Gateway, data: string): Promise<OriginRow[]> {
  const file = join(data, "needs.json");
  if (!existsSync(file)) return [missing("needs", "needs.json")];
  const needs = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, string[]>);
  const destroying: string[] = [];
  let first = 0;
  for (const [need, names] of needs) {
    const { hits } = await gateway.ask({ query: need, limit: 10 });
    const found = hits.filter(({ entryPoint }) => !entryPoint);
    const place = found.findIndex(({ name }) => names.includes(name));
    if (place === 0) first++;
    if (found.slice(0, Math.max(0, place)).some(({ lane }) => lane === "destructive")) destroying.push(need);
  }
  const share = first / needs.length;
  const percent = `${Math.round(share * 100)} % of ${needs.length}`;
  return [
    row("needs", `the tool that is meant is first in ${FIRST_SHARE * 100} %`, share >= FIRST_SHARE, percent),
    row(
      "needs",
      "nothing that destroys is above it",
      destroying.length === 0,
      listed("above for", destroying) || "none",
    ),
  ];
}

async function tryLibrary(data: string): Promise<OriginRow[]> {
  const directory = join(data, "library");
  if (!existsSync(directory)) return [missing("library", "library/")];
  const source = createMarkdownSource("library", { directory, description: "A library.", watch: false });
  const gateway = createGateway({ sources: [source], learning: false });
  try {
    await gateway.ready();
    const { files, problems } = source.diagnostics();
    const { entries } = await gateway.view();
    const found = `${files} files, ${entries.length} entries${listed("told", problems)}`;
    return [row("library", "files are read, and those that are not are named", entries.length > 0, found)];
  } finally {
    await gateway.close();
  }
}

/** Keyhole must not take a collection of another program for its own. */
async function tryTypesense(data: string): Promise<OriginRow[]> {
  const file = join(data, "typesense.json");
  if (!existsSync(file)) return [missing("typesense", "typesense.json")];
  const { name } = JSON.parse(readFileSync(file, "utf8")) as { name: string };
  const asked = new Set<string>();
  const server = createServer((request, response) => {
    asked.add(request.url ?? "");
    response.writeHead(404).end("{}");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const index = createTypesenseIndex({ url, apiKey: "key" });
  await index.search({ query: "anything", limit: 1, filter: { scopes: [] } }).catch(() => {});
  await index.drop(["none"]).catch(() => {});
  await index.close();
  server.close();
  const touched = [...asked].filter((path) => path.split(/[/?]/).includes(name));
  const found = touched.length === 0 ? `${name} is not touched` : `Keyhole uses ${name} too`;
  return [row("typesense", "the collection of another program is left alone", touched.length === 0, found)];
}

function row(part: string, check: string, ok: boolean, found: string): OriginRow {
  return { part, check, ok, found };
}

function missing(part: string, what: string): OriginRow {
  return { part, check: "not tried", ok: undefined, found: `the folder has no ${what}` };
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `; ${what}: ${names.slice(0, MOST_NAMED).join(", ")}${more}`;
}

function filesIn(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => join(folder, name));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { data: { type: "string" }, json: { type: "boolean" } } });
  if (!values.data || !existsSync(values.data)) {
    console.error(
      "Usage: npm run origins -- --data DIR [--json]. The head of scripts/origins.ts says what DIR has.",
    );
    process.exit(2);
  }
  const rows = await tryOriginals(resolve(values.data));
  const mark = (ok: boolean | undefined) => (ok === undefined ? "missing" : ok ? "ok" : "FAILS");
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else
    for (const { part, check, ok, found } of rows)
      console.log(`${mark(ok).padEnd(8)} ${part}: ${check}: ${found.replace(/^; /, "")}`);
  if (rows.some(({ ok }) => ok === false)) process.exitCode = 1;
}
