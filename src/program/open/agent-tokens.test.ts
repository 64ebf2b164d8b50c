import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeBytes } from "../../../test/change-bytes.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openGrantsNow } from "../../core/access/grants.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { createAgentTokens } from "./agent-tokens.ts";

const open = (path: string, now?: () => number) =>
  createAgentTokens(openGrantsNow(openRecordFile(path), "agent"), now);
const reader = { name: "reader", scopes: ["team"], allowWrite: false };

test("a token stands for a principal of its own, and only its hash is kept", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const tokens = open(path);
  const token = await tokens.add(reader);
  const other = await tokens.add({ name: "writer", scopes: [], allowWrite: true });
  expect(await tokens.find(token!)).toEqual({
    id: expect.stringMatching(/^agent:reader#/),
    scopes: ["team"],
    allowWrite: false,
  });
  expect(await tokens.find(other!)).toEqual({
    id: expect.stringMatching(/^agent:writer#/),
    scopes: [],
    allowWrite: true,
  });
  expect(await tokens.find("kh_other")).toBeUndefined();
  expect(readFileSync(path, "latin1")).not.toContain(token);
  expect((await tokens.list()).map(({ name }) => name)).toEqual(["reader", "writer"]);
});

test("a name is taken once", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const [mine, theirs] = [open(path), open(path)];
  expect(await mine.add(reader)).toMatch(/^kh_/);
  expect(await theirs.add(reader)).toBeUndefined();
});

test("changes by another process count at once", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const [mine, theirs] = [open(path), open(path)];
  const token = (await theirs.add(reader))!;
  expect(await mine.find(token)).toBeDefined();
  expect(await theirs.revoke("reader")).toBe(true);
  expect(await mine.find(token)).toBeUndefined();
  expect(await theirs.revoke("reader")).toBe(false);
});

test("a token ends at its time", async () => {
  let now = 1_000;
  const tokens = open(join(temporaryFolder(), "approvals.db"), () => now);
  const token = (await tokens.add({ ...reader, expiresAt: 2_000 }))!;
  now = 1_999;
  expect(await tokens.find(token)).toBeDefined();
  now = 2_000;
  expect(await tokens.find(token)).toBeUndefined();
  expect(await tokens.list()).toMatchObject([{ name: "reader", expiresAt: 2_000 }]);
});

test("a token whose record was changed by hand is not valid", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const token = (await open(path).add(reader))!;
  changeBytes(path, '"allowWrite":false', '"allowWrite":true ');
  expect(await open(path).find(token)).toBeUndefined();
  expect(openGrantsNow(openRecordFile(path), "agent").damage).toContain("approvals.db");
});
