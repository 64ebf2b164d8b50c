import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { LAYERS } from "./layers.ts";

const MAX_LINES = 400;
const sources = globSync("src/**/*.ts").sort();

test("every folder of src has a layer", () => {
  const known = new Set(LAYERS.flat());
  expect(sources.map(moduleOf).filter((module) => !known.has(module))).toEqual([]);
});

test("imports point down, and siblings do not know each other", () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => !mayImport(moduleOf(file), moduleOf(target)))
      .filter((target) => !(file.endsWith(".test.ts") && moduleOf(target) === "testing"))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test(`no file has more than ${MAX_LINES} lines`, () => {
  const files = globSync("{src,test,examples,bench,scripts}/**/*.ts", { exclude: ["**/node_modules/**"] });
  const long = files.filter((file) => readFileSync(file, "utf8").split("\n").length > MAX_LINES + 1);
  expect(long).toEqual([]);
});

test("nobody inside imports a public door, and only published folders have one", () => {
  const doors = new Set([
    "src/index.ts",
    "src/agent/index.ts",
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

// Who listens, and who asks an engine or model at an address that the owner configures, often a private one.
const OWN_ENDPOINTS = [
  "src/mcp/serve-http.ts",
  "src/search/vectors/post-with-retry.ts",
  "src/sources/mcp/login/callback.ts",
  "src/testing/serve-scripted-model.ts",
];

test("requests go out through the guarded fetch only", () => {
  const raw =
    /(?:await|return|=|\(|,)\s*fetch\(|globalThis\.fetch|^import (?!type).*from "(?:undici|node:(?:https?|http2|net|tls|dgram))"/m;
  const inside = sources
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("src/net/"))
    .filter((file) => raw.test(readFileSync(file, "utf8")));
  expect(inside).toEqual(OWN_ENDPOINTS);
});

function mayImport(from: string, to: string): boolean {
  return from === to || layerOf(to) < layerOf(from);
}

function layerOf(module: string): number {
  return LAYERS.findIndex((layer) => layer.includes(module));
}

function moduleOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  return targets.map((target) => normalize(join(dirname(file), target)));
}
