import { join } from "node:path";
import { expect, test } from "vitest";
import { changeBytes } from "../../../test/change-bytes.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import type { ServerProgram } from "../nouns/server-program.ts";
import { openRecordFile } from "../storage/record-file.ts";
import { createConsents } from "./consents.ts";
import { openGrantsNow } from "./grants.ts";

const programOf = (hash: string, label = "files"): ServerProgram => ({
  label,
  hash,
  identity: "identity",
  runs: { command: "node", args: [], cwd: "/", env: {} },
});

const open = (path: string) => createConsents(openGrantsNow(openRecordFile(path), "program"));

test("consent is to exactly one hash, whatever the label", async () => {
  const consents = open(join(temporaryFolder(), "approvals.db"));
  expect(consents.isGiven(programOf("a"))).toBe(false);
  await consents.give([programOf("a")]);
  expect(consents.isGiven(programOf("a", "another label"))).toBe(true);
  expect(consents.isGiven(programOf("b"))).toBe(false);
});

test("consents are kept with their label and time", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const before = Date.now();
  await open(path).give([programOf("a"), programOf("b", "mail")]);
  const programs = openGrantsNow(openRecordFile(path), "program").entries();
  expect([...programs]).toMatchObject([
    ["a", { label: "files" }],
    ["b", { label: "mail" }],
  ]);
  expect(programs.get("a")?.givenAt).toBeGreaterThanOrEqual(before);
  expect(open(path).isGiven(programOf("b"))).toBe(true);
});

test("changes by another process count at once", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const [mine, theirs] = [open(path), open(path)];
  await theirs.give([programOf("a")]);
  expect(mine.isGiven(programOf("a"))).toBe(true);
  await theirs.revoke([programOf("a")]);
  expect(mine.isGiven(programOf("a"))).toBe(false);
});

test("revoking tells how many consents there were, also those of others", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const [mine, theirs] = [open(path), open(path)];
  await theirs.give([programOf("a"), programOf("b")]);
  expect(await mine.revoke([programOf("a"), programOf("c")])).toBe(1);
  expect([mine.isGiven(programOf("a")), mine.isGiven(programOf("b"))]).toEqual([false, true]);
  expect(await mine.revoke([programOf("a")])).toBe(0);
});

test("a damaged consent does not count and says so", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  await open(path).give([programOf("a")]);
  changeBytes(path, '"files"', '"other"');
  expect(open(path).isGiven(programOf("a"))).toBe(false);
  expect(openGrantsNow(openRecordFile(path), "program").damage).toContain("are damaged and do not count: 1");
});
