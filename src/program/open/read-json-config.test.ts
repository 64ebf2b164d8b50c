// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { readJsonConfig } from "./read-json-config.ts";

async function read(config: object, folder = temporaryFolder()) {
  const path = join(folder, "mcp.json");
  writeFileSync(path, JSON.stringify(config, null, 2));
  const told: string[] = [];
  const sources = await readJsonConfig(path, {}, { report: (sentence) => told.push(sentence) });
  return { sources, told, path };
}

test("a broken server is set aside and the others are used", async () => {
  const { sources, told, path } = await read({
    mcpServers: {
      good: { command: "x" },
      old: { type: "smtp", url: "https://x.example/sse" },
      asks: { command: "x", env: { KEY: "${command:key}" } },
    },
  });
  expect(sources.map(({ id }) => id)).toEqual(["mcp:good"]);
  expect(told).toEqual([
    expect.stringContaining(`${path}:6:5 cannot be used: the server "old": type must be one of`),
    expect.stringContaining("Keyhole cannot fill in ${command:key}"),
  ]);
});

test("an unknown field names the nearest", async () => {
  const { sources, told } = await read({ servers: { a: { command: "x", excludeTool: ["y"] } } });
  expect(sources).toHaveLength(1);
  expect(told).toEqual([
    expect.stringContaining("excludeTool is an unknown field; did you mean excludeTools?"),
  ]);
});

test("a server that is not enabled is left out", async () => {
  const { sources, told } = await read({
    servers: { a: { command: "x", enabled: false }, b: { command: "x" } },
  });
  expect([sources.map(({ id }) => id), told]).toEqual([["mcp:b"], []]);
});

test("the workspace of an editor's config is the folder above", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".vscode"));
  const { sources } = await read(
    { servers: { a: { command: "x", args: ["${workspaceFolder}"] } } },
    join(folder, ".vscode"),
  );
  expect(sources[0]?.program().runs).toMatchObject({ args: [folder] });
});
