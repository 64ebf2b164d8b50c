import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import type { ServerProgram } from "../nouns/server-program.ts";
import { createConsents } from "./consents.ts";

const programOf = (hash: string, label = "files"): ServerProgram => ({
  label,
  hash,
  identity: "identity",
  runs: { command: "node", args: [], cwd: "/", env: {} },
});

test("consent is to exactly one hash, whatever the label", async () => {
  const consents = createConsents(join(temporaryFolder(), "consents.json"));
  expect(consents.isGiven(programOf("a"))).toBe(false);
  await consents.give([programOf("a")]);
  expect(consents.isGiven(programOf("a", "another label"))).toBe(true);
  expect(consents.isGiven(programOf("b"))).toBe(false);
});

test("consents are kept with their label and time", async () => {
  const path = join(temporaryFolder(), "consents.json");
  const before = Date.now();
  await createConsents(path).give([programOf("a"), programOf("b", "mail")]);
  const { format, records } = JSON.parse(readFileSync(path, "utf8"));
  expect(format).toBe(1);
  expect(records).toMatchObject([
    ["a", { label: "files" }],
    ["b", { label: "mail" }],
  ]);
  expect(records[0][1].givenAt).toBeGreaterThanOrEqual(before);
  expect(createConsents(path).isGiven(programOf("b"))).toBe(true);
});

test("changes by another process count at once", async () => {
  const path = join(temporaryFolder(), "consents.json");
  const [mine, theirs] = [createConsents(path), createConsents(path)];
  await theirs.give([programOf("a")]);
  expect(mine.isGiven(programOf("a"))).toBe(true);
  await theirs.revoke([programOf("a")]);
  expect(mine.isGiven(programOf("a"))).toBe(false);
});

test("revoking tells how many consents there were, also those of others", async () => {
  const path = join(temporaryFolder(), "consents.json");
  const [mine, theirs] = [createConsents(path), createConsents(path)];
  await theirs.give([programOf("a"), programOf("b")]);
  expect(await mine.revoke([programOf("a"), programOf("c")])).toBe(1);
  expect([mine.isGiven(programOf("a")), mine.isGiven(programOf("b"))]).toEqual([false, true]);
  expect(await mine.revoke([programOf("a")])).toBe(0);
});

test("a damaged file consents to nothing and says so", async () => {
  const path = join(temporaryFolder(), "consents.json");
  await createConsents(path).give([programOf("a")]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"files"', '"other"'));
  const consents = createConsents(path);
  expect(consents.isGiven(programOf("a"))).toBe(false);
  expect(consents.damage).toContain("nothing in it counts as allowed");
});
