import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createAgentTokens } from "./agent-tokens.ts";

const reader = { name: "reader", scopes: ["team"], allowWrite: false };

test("a token stands for a principal of its own, and only its hash is kept", async () => {
  const path = join(temporaryFolder(), "tokens.json");
  const tokens = createAgentTokens(path);
  const token = await tokens.add(reader);
  const other = await tokens.add({ name: "writer", scopes: [], allowWrite: true });
  expect(tokens.find(token!)).toEqual({ id: "agent:reader", scopes: ["team"], allowWrite: false });
  expect(tokens.find(other!)).toEqual({ id: "agent:writer", scopes: [], allowWrite: true });
  expect(tokens.find("kh_other")).toBeUndefined();
  expect(readFileSync(path, "utf8")).not.toContain(token);
  expect(tokens.list().map(({ name }) => name)).toEqual(["reader", "writer"]);
});

test("a name is taken once", async () => {
  const path = join(temporaryFolder(), "tokens.json");
  const [mine, theirs] = [createAgentTokens(path), createAgentTokens(path)];
  expect(await mine.add(reader)).toMatch(/^kh_/);
  expect(await theirs.add(reader)).toBeUndefined();
});

test("changes by another process count at once", async () => {
  const path = join(temporaryFolder(), "tokens.json");
  const [mine, theirs] = [createAgentTokens(path), createAgentTokens(path)];
  const token = (await theirs.add(reader))!;
  expect(mine.find(token)).toBeDefined();
  expect(await theirs.revoke("reader")).toBe(true);
  expect(mine.find(token)).toBeUndefined();
  expect(await theirs.revoke("reader")).toBe(false);
});

test("a token ends at its time", async () => {
  let now = 1_000;
  const tokens = createAgentTokens(join(temporaryFolder(), "tokens.json"), () => now);
  const token = (await tokens.add({ ...reader, expiresAt: 2_000 }))!;
  now = 1_999;
  expect(tokens.find(token)).toBeDefined();
  now = 2_000;
  expect(tokens.find(token)).toBeUndefined();
  expect(tokens.list()).toMatchObject([{ name: "reader", expiresAt: 2_000 }]);
});

test("no token of a damaged file is valid", async () => {
  const path = join(temporaryFolder(), "tokens.json");
  const token = (await createAgentTokens(path).add(reader))!;
  writeFileSync(path, readFileSync(path, "utf8").replace('"allowWrite": false', '"allowWrite": true'));
  const tokens = createAgentTokens(path);
  expect(tokens.find(token)).toBeUndefined();
  expect(tokens.damage).toContain("tokens.json");
});
