import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manifestFiles } from "../scripts/manifests.ts";
import { installTool } from "../scripts/tool.ts";
import { zip } from "../scripts/zip.ts";
import { PROGRAM_VERSION } from "../src/base/util/program-version.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";

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

const mcpb = await unlessUnreachable(() => join(installTool("mcpb"), "node_modules/.bin/mcpb"));

test.skipIf(!mcpb)("the official reader of bundles unpacks the zip, with its names and permissions", () => {
  const folder = temporaryFolder();
  const manifest = Buffer.from(JSON.stringify(manifestFiles(facts)["mcpb/manifest.json"]));
  const files = [
    { path: "manifest.json", bytes: manifest, mode: 0o644 },
    { path: "server/bin/ünïcode.cjs", bytes: Buffer.from("// program"), mode: 0o755 },
    { path: "server/empty", bytes: Buffer.alloc(0), mode: 0o644 },
    { path: "server/large", bytes: Buffer.alloc(3_000_000, "keyhole"), mode: 0o644 },
  ];
  writeFileSync(join(folder, "a.mcpb"), zip(files));
  const unpacked = spawnSync(mcpb!, ["unpack", join(folder, "a.mcpb"), join(folder, "out")], {
    encoding: "utf8",
  });
  expect([unpacked.status, unpacked.stderr]).toEqual([0, ""]);
  for (const { path, bytes, mode } of files) {
    const file = join(folder, "out", path);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(mode);
  }
  expect(zip(files).equals(zip(files))).toBe(true);
});
