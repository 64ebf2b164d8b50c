import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { installTool } from "../scripts/tool.ts";
import { FOLDERS, MOST_FILES, ROOMS, SMALL_FILES } from "./layers.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";
import { waysOut } from "./ways-out.ts";

const MAX_LINES = 400;
const rooms = ROOMS.map(({ name }) => name);
const sources = globSync("src/**/*.ts").sort();
const code = sources.filter((file) => !file.endsWith(".test.ts"));

test("src has the rooms of the table and nothing else", () => {
  expect([...new Set(sources.map(roomOf))].sort()).toEqual(rooms.toSorted());
});

test("a room imports only from the rooms above it", () => {
  const wrong = imports((from, to) => rooms.indexOf(roomOf(to)) > rooms.indexOf(roomOf(from)));
  expect(wrong.filter((line) => !/\.test\.ts imports src\/(?:testing|program)\//.test(line))).toEqual([]);
});

test.each(Object.entries(FOLDERS))("the folders of %s import only from the rows above", (room, rows) => {
  const folders = sources.filter((file) => roomOf(file) === room).map(folderOf);
  expect([...new Set(folders)].sort()).toEqual(rows.flat().sort());
  const rowOf = (file: string) => rows.findIndex((row) => row.includes(folderOf(file)));
  const wrong = imports(
    (from, to) =>
      roomOf(from) === room &&
      roomOf(to) === room &&
      folderOf(from) !== folderOf(to) &&
      rowOf(to) >= rowOf(from),
  );
  expect(wrong.filter((line) => !line.includes(".test.ts imports"))).toEqual([]);
});

test.each(ROOMS)("$name keeps within its lines", ({ name, lines }) => {
  const counts = code.filter((file) => roomOf(file) === name).map(linesOf);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(lines);
});

test("there are few files, and a small one with one importer is part of it", () => {
  expect(code.length).toBeLessThanOrEqual(MOST_FILES);
  const importers = Map.groupBy(
    code.flatMap((file) => [...new Set(importsOf(file))].map((target) => ({ file, target }))),
    ({ target }) => target,
  );
  const small = code.filter((file) => linesOf(file) < 50 && importers.get(file)?.length === 1);
  expect(small).toEqual(Object.keys(SMALL_FILES).sort());
});

test("every type name is declared once", () => {
  const places = new Map<string, string[]>();
  for (const file of code) {
    // Texts of several lines hold code that runs elsewhere.
    const text = readFileSync(file, "utf8").replace(/`[^`]*`/g, "``");
    for (const [, name = ""] of text.matchAll(/^(?:export )?(?:interface|type|(?:abstract )?class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), file]);
  }
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([]);
});

test(`no file has more than ${MAX_LINES} lines`, () => {
  const files = globSync("{console,src,test,examples,bench,scripts}/**/*.{ts,tsx}", {
    exclude: ["**/node_modules/**"],
  });
  const long = files.filter((file) => readFileSync(file, "utf8").split("\n").length > MAX_LINES + 1);
  expect(long).toEqual([]);
});

test("no file in src imports a public door, and only published folders have one", () => {
  const doors = new Set([
    "src/index.ts",
    "src/agent/index.ts",
    "src/faces/http/index.ts",
    "src/postgres/index.ts",
    "src/faces/mcp/index.ts",
    "src/search/index.ts",
    "src/sources/index.ts",
    "src/faces/ai-sdk/index.ts",
    "src/agent/models/index.ts",
    "src/testing/index.ts",
  ]);
  expect(sources.filter((file) => file.endsWith("/index.ts") && !doors.has(file))).toEqual([]);
  const crossing = sources.flatMap((file) => importsOf(file).filter((target) => doors.has(target)));
  expect(crossing).toEqual([]);
});

test("a gateway is served without the AI SDK and Ink: users need not have them", () => {
  const reached = new Set(["src/program/daemon/serve-here.ts", "src/program/daemon/daemon-configs.ts"]);
  const brought = new Set<string>();
  for (const file of reached) {
    const text = readFileSync(file, "utf8").replace(/^(?:import|export) type [^;]*;/gm, "");
    for (const [, target = ""] of text.matchAll(/^(?:import|export) (?:[^;"]*from )?"([^"]+)"/gm))
      if (target.startsWith(".")) reached.add(normalize(join(dirname(file), target)));
      else brought.add(target);
  }
  expect([...brought].filter((name) => /^(?:ai|ink|react|@ai-sdk\/.*)$/.test(name))).toEqual([]);
});

test("problems are raised from the table", () => {
  const bare = sources
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => /throw new \w*Error\(/.test(readFileSync(file, "utf8")));
  expect(bare).toEqual([]);
});

const LISTENERS = [
  "src/faces/mcp/serve-http.ts",
  // A socket of this machine, which no network reaches.
  "src/program/daemon/daemon.ts",
  "src/program/daemon/reach-daemon.ts",
  // The socket of a sandbox, which only the processes in it reach.
  "src/sources/isolation/isolation.ts",
  "src/sources/mcp/login/callback.ts",
  "src/testing/serve-scripted-model.ts",
];

test("T24: only the guarded fetch sends requests, and only listeners import network modules", () => {
  const inside = sources
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("src/base/net/"))
    .filter((file) => waysOut(readFileSync(file, "utf8")).length > 0);
  expect(inside).toEqual(LISTENERS);
});

test.each([
  'import { request } from "node:http";',
  'import * as secure from "node:https";',
  'import { lookup } from "node:dns/promises";',
  'import {\n  connect,\n} from "node:net";',
  'export { Agent } from "undici";',
  'const { request } = await import("node:http2");',
  'process.getBuiltinModule("net");',
  "const send = globalThis.fetch;",
  'globalThis["WebSocket"];',
  "createRemoteJWKSet(new URL(jwksUri));",
  "new sdk.StreamableHTTPClientTransport(url, { requestInit });",
])("the check sees %j", (source) => {
  expect(waysOut(source)).toHaveLength(1);
});

test.each([
  'import type { IncomingMessage } from "node:http";',
  "/** Calls globalThis.fetch. */",
  "createRemoteJWKSet(new URL(jwksUri), { [customFetch]: guarded });",
  "new sdk.StreamableHTTPClientTransport(url, { fetch, requestInit });",
])("the check lets %j pass", (source) => {
  expect(waysOut(source)).toEqual([]);
});

const biome = await unlessUnreachable(() => join(installTool("biome"), "node_modules/.bin/biome"));

test.skipIf(!biome)(
  "the linter refuses every global that reaches the network and accepts local bindings of the same name",
  () => {
    const folder = temporaryFolder();
    const { vcs: _, ...config } = JSON.parse(readFileSync("biome.json", "utf8"));
    const refused = ["fetch(url)", "options.fetch ?? fetch", "new WebSocket(url)", "new EventSource(url)"];
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "biome.json"), JSON.stringify(config));
    writeFileSync(
      join(folder, "src/refused.ts"),
      refused.map((way) => `export const a = ${way};`).join("\n"),
    );
    writeFileSync(join(folder, "src/own.ts"), "export const a = (fetch: () => void) => fetch();");
    const { stdout, stderr } = spawnSync(biome!, ["lint", "--only=style/noRestrictedGlobals"], {
      cwd: folder,
    });
    const found = [...`${stdout}${stderr}`.matchAll(/src\/\w+\.ts:(\d+)/g)].map(([place]) => place);
    expect(found).toEqual(refused.map((_, at) => `src/refused.ts:${at + 1}`));
  },
);

/** The imports between files of `src/` that a rule finds wrong. */
function imports(isWrong: (from: string, to: string) => boolean): string[] {
  return sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith("src/") && isWrong(file, target))
      .map((target) => `${file} imports ${target}`),
  );
}

function linesOf(file: string): number {
  return readFileSync(file, "utf8").split("\n").length - 1;
}

function roomOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function folderOf(file: string): string {
  return file.split("/")[2] ?? "";
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  return targets.map((target) => normalize(join(dirname(file), target)));
}
