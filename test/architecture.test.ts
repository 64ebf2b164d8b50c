import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { installTool } from "../scripts/tool.ts";
import { LAYERS } from "./layers.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";
import { waysOut } from "./ways-out.ts";

const MAX_LINES = 400;
const layers = LAYERS.map((modules) => modules.map(({ name }) => name));
const sources = globSync("src/**/*.ts").sort();

test("every folder of src has a layer", () => {
  const known = new Set(layers.flat());
  expect(sources.map(moduleOf).filter((module) => !known.has(module))).toEqual([]);
});

test("imports point to lower layers, and modules of one layer do not import each other", () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => !mayImport(moduleOf(file), moduleOf(target)))
      .filter((target) => !(file.endsWith(".test.ts") && moduleOf(target) === "testing"))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
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
    "src/http/index.ts",
    "src/mcp/index.ts",
    "src/search/index.ts",
    "src/sources/index.ts",
    "src/ai-sdk/index.ts",
    "src/models/index.ts",
    "src/testing/index.ts",
  ]);
  expect(sources.filter((file) => file.endsWith("/index.ts") && !doors.has(file))).toEqual([]);
  const crossing = sources.flatMap((file) => importsOf(file).filter((target) => doors.has(target)));
  expect(crossing).toEqual([]);
});

test("problems are raised from the table", () => {
  const bare = sources
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => /throw new \w*Error\(/.test(readFileSync(file, "utf8")));
  expect(bare).toEqual([]);
});

const LISTENERS = [
  // A socket of this machine, which no network reaches.
  "src/daemon/daemon.ts",
  "src/daemon/reach-daemon.ts",
  "src/mcp/serve-http.ts",
  "src/sources/mcp/login/callback.ts",
  "src/testing/serve-scripted-model.ts",
];

test("only the guarded fetch sends requests, and only listeners import network modules", () => {
  const inside = sources
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("src/net/"))
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

function mayImport(from: string, to: string): boolean {
  return from === to || layerOf(to) < layerOf(from);
}

function layerOf(module: string): number {
  return layers.findIndex((layer) => layer.includes(module));
}

function moduleOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  return targets.map((target) => normalize(join(dirname(file), target)));
}
