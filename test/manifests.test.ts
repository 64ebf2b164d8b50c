import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { manifestFiles } from "../scripts/manifests.ts";
import { PROGRAM_VERSION } from "../src/util/program-version.ts";

const facts = JSON.parse(readFileSync("package.json", "utf8"));

test("the manifests have the forms of the registry, of bundles and of plugins, and the program's version", () => {
  const files = manifestFiles(facts) as Record<string, Record<string, unknown>>;
  expect(Object.keys(files)).toEqual([
    "server.json",
    "mcpb/manifest.json",
    "plugin/.claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
  ]);
  const versions = [facts.version, files["server.json"]?.version, files["mcpb/manifest.json"]?.version];
  expect(versions).toEqual(Array(3).fill(PROGRAM_VERSION));
  // The registry compares the two.
  expect(files["server.json"]?.name).toBe(facts.mcpName);
});

test("a manifest that its readers would refuse fails the build", () => {
  expect(() => manifestFiles({ ...facts, mcpName: "no namespace" })).toThrow();
  expect(() => manifestFiles({ ...facts, version: "latest" })).toThrow();
  expect(() => manifestFiles({ ...facts, name: "Not_A_Name" })).toThrow();
});
