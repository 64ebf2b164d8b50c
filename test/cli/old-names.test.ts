// Commands that had another name do what they did, and say the new one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readOldName } from "../../src/program/old-names.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

const NOTES = "--config notes.mjs";

function setUp(): string {
  const home = temporaryFolder();
  writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers: { one: { command: "no-such" } } }));
  writeFileSync(
    join(home, "notes.mjs"),
    `export const domains = [{ name: "notes", description: "Notes.",
      resources: [{ route: "notes://resources/manual", name: "manual", description: "The manual.", fetch: () => "Read me." }],
      tools: [{ name: "list_notes", description: "List notes.", execute: () => ["milk"] }] }];`,
  );
  return home;
}

test.each<[old: string, now: string]>([
  ["status", "servers"],
  ["status --json --config mcp.json", "servers --json --config mcp.json"],
  ["list --config mcp.json", "servers --config mcp.json"],
  ["servers mcp.json", "servers --config mcp.json"],
  ["servers allow nobody", "approve nobody"],
  ["servers allow --all --yes abc", "approve --hash abc"],
  ["servers revoke nobody", "approve --revoke nobody"],
  ["approve nobody --yes abc", "approve nobody --hash abc"],
  ["pins approve --all", "approve"],
  ["pins diff nobody://tools/x", "approve nobody://tools/x"],
  ["pins revoke nobody", "approve --revoke nobody"],
  ["pins --json", "approve --json"],
  ["pins none.json", "approve --config none.json"],
  ["trust", "approve ."],
  ["trust sub --end", "approve ./sub --revoke"],
  ["trust --yes abc", "approve . --hash abc"],
  ["token", "agents"],
  ["token list --json", "agents list --json"],
  ["token revoke nobody", "agents revoke nobody"],
  ["daemon status --json", "servers --json"],
  ["daemon stop", "serve --stop"],
  ["daemon", "serve --help"],
  [`help ${NOTES}`, `show ${NOTES}`],
  [`help notes.note.list --format full ${NOTES}`, `show notes.note.list --format full ${NOTES}`],
  [`exec notes.note.list ${NOTES}`, `call notes.note.list ${NOTES}`],
  ["report --json", "catalog report --json"],
  [`lint ${NOTES}`, `catalog lint ${NOTES}`],
  [`bench --json ${NOTES}`, `catalog bench --json ${NOTES}`],
  ["index build . --json", "catalog index . --json"],
  ["audit verify", "logs verify"],
  ["audit tail -n 3", "logs calls -n 3"],
  ["audit export --since 1h --principal ann", "logs calls --all --since 1h --agent ann"],
])("keyhole %s is keyhole %s", async (old, now) => {
  const home = setUp();
  const { errors, ...outcome } = await keyhole(home, old.split(" "));
  const today = await keyhole(home, now.split(" "));
  const [sentence, ...more] = errors.split("\n");
  expect(sentence).toMatch(/^keyhole [a-z ]+ is now keyhole [a-zA-Z -]+\.$/);
  expect({ ...outcome, errors: more.join("\n") }).toEqual(today);
});

test.each([
  ["run -p hello", "chat --print hello"],
  ["run --stream --prompt hello", "chat --print --stream hello"],
  ["run --prompt=hello there", "chat --print hello there"],
  ["run --provider openai hello", "chat --print --provider openai hello"],
  ["daemon run", "serve --daemon"],
])("keyhole %s runs keyhole %s", (old, now) => {
  expect(readOldName(old.split(" "), [])?.words.join(" ")).toBe(now);
});

test("get and batch run as they did, and say what takes their place", async () => {
  const home = setUp();
  const got = await keyhole(home, [
    "get",
    "notes.note.list",
    "notes://resources/manual",
    ...NOTES.split(" "),
  ]);
  expect(got).toMatchObject({
    code: 0,
    errors: "keyhole get is now keyhole call, or keyhole show for a document.\n",
  });
  expect(got.out).toMatch(
    /# notes:\/\/tools\/note\/list\n[\s\S]*milk[\s\S]*# notes:\/\/resources\/manual\nRead me\./,
  );
  const requests = JSON.stringify([{ help: { path: "notes" } }, { exec: { op: "notes.note.list" } }]);
  const batch = await keyhole(home, ["batch", "--requests", requests, ...NOTES.split(" ")]);
  expect(batch).toMatchObject({ code: 0, errors: "keyhole batch is now keyhole script.\n" });
  expect(batch.out).toMatch(/^\[0\] [\s\S]*\[1\] notes\.note\.list: /);
});

test("help about a command is no old name", async () => {
  const home = setUp();
  expect(await keyhole(home, ["help", "call"])).toEqual(await keyhole(home, ["call", "--help"]));
  expect(await keyhole(home, ["help", "--help"])).toEqual(await keyhole(home, ["help"]));
  expect(await keyhole(home, ["help", "conect"])).toMatchObject({
    code: 2,
    errors: expect.stringContaining("Did you mean keyhole connect?"),
  });
});
