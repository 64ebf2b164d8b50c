import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole, type Outcome } from "./kit.ts";

/** A stack, or an object of Node's own, in place of a sentence. */
const RAW = /^\s+at .+[:(]\d+|node:internal|\[Function|Error: .*\n\s+at|\[object Object\]/m;

/** Command lines of people in a hurry. Each has to end with a sentence and the way on. */
const MISUSES: readonly string[] = [
  "srve",
  "connnect cursor",
  "helpp",
  "--colour",
  "--yes --nope",
  "-x",
  "ask",
  "ask x --config missing.json",
  "ask x --config broken.json",
  "ask x --config empty.json",
  "ask x --config folder",
  "ask x --limit many --config notes.mjs",
  "ask x --max-tokens -5 --config notes.mjs",
  "ask x --url nowhere",
  "ask x --url http://127.0.0.1:1/mcp",
  "ask x --url ftp://example.test",
  "ask x --confg notes.mjs",
  "call",
  "call nothing.at.all --config notes.mjs",
  "call notes.note.list --config notes.mjs extra words",
  "call notes.note.list =5 --config notes.mjs",
  "call notes.note.creat text=a --config notes.mjs --allow-write",
  "get",
  "get notes://nothing --config notes.mjs",
  "show nothing --config notes.mjs",
  "batch --config notes.mjs",
  "batch --requests nojson --config notes.mjs",
  "script --config notes.mjs",
  "script syntax({ --config notes.mjs",
  "connect",
  "connect netscape",
  "connect cursor windsurf",
  "connect cursor --undo --what",
  "connect broken-client",
  "servers --config missing.json",
  "servers --jsn",
  "servers nobody",
  "add",
  "add 9lives -- x",
  "add a",
  "add a b c d",
  "add a http://x.example -- npx y",
  "add a --env NOPE -- x",
  "remove",
  "remove nobody",
  "remove a b",
  "login",
  "login nobody",
  "logout nobody",
  "approve /no/such/folder --hash 1",
  "approve --revoke",
  "approve --hash wrong --config one.json",
  "servers a b c",
  "approve nothing://at/all",
  "approve nobody",
  "uninstall --jsonn",
  "uninstall now",
  "logs -n many",
  "logs a b",
  "doctor --fix",
  "agents add",
  "agents add x --expires never",
  "agents revoke nobody",
  "agents what",
  "secrets set",
  "secrets set a b",
  "secrets remove nobody",
  "secrets what",
  "completion",
  "completion tcsh",
  "catalog lint nobody --config notes.mjs",
  "catalog bench nobody --config notes.mjs",
  "audit",
  "catalog",
  "logs verify --folder /no/such/folder --contains 1",
  "logs calls -n many",
  "logs calls --since yesterday",
  "index",
  "catalog index /no/such/folder",
  "serve --stopp",
  "serve --surface none --config notes.mjs",
  "serve --config missing.ts",
  "serve --config throws.mjs",
  "serve --config nothing.mjs",
  "serve --http --port 99999 --config notes.mjs",
  "serve --http --host no.such.host.invalid --config notes.mjs",
  "serve --http --allow-host a:1 --config notes.mjs",
  "serve --profile play --config one.json --no-daemon",
];

function setUp(): string {
  const home = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(home, name), text);
  write("broken.json", '{ "mcpServers": { ');
  write("empty.json", "{}");
  write("one.json", '{ "mcpServers": { "one": { "command": "no-such-program" } } }');
  write("throws.mjs", "throw new TypeError('the config is wrong');");
  write("nothing.mjs", "export const limits = {};");
  write(
    "notes.mjs",
    `export const domains = [{ name: "notes", description: "Notes.", tools: [
      { name: "create_note", description: "Write.", execute: (args) => args },
      { name: "list_notes", description: "List notes.", execute: () => [] } ] }];`,
  );
  mkdirSync(join(home, "folder"));
  return home;
}

/** The outcome of a command that does not end as it should, or nothing. */
function wrong(command: string, { code, out, errors }: Outcome): string[] {
  const said = `${out}\n${errors}`.trim();
  const isRight = !RAW.test(said) && (code === 1 || code === 2) && said.length > 20;
  return isRight ? [] : [`keyhole ${command} ended with ${code}: ${said}`];
}

describe("misuse", () => {
  expect(MISUSES.length).toBeGreaterThanOrEqual(60);

  verifies("cli:no-stack", "every misuse is answered with a sentence, never with a stack", async () => {
    const home = setUp();
    const found: string[] = [];
    for (const command of MISUSES) found.push(...wrong(command, await keyhole(home, command.split(" "))));
    expect(found).toEqual([]);
  });

  verifies("cli:no-stack", "a port in use is told with the fix", async () => {
    const home = setUp();
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await new Promise((done) => other.once("listening", done));
    const { port } = other.address() as AddressInfo;
    const outcome = await keyhole(home, ["serve", "--http", "--port", `${port}`, "--config", "notes.mjs"]);
    expect(wrong("port", outcome)).toEqual([]);
    expect(outcome.errors).toContain(`127.0.0.1:${port}: another program uses the port`);
    expect(outcome.errors).toContain("--port");
  });

  test("a home that cannot be written is told with the fix", async () => {
    const home = setUp();
    const file = join(home, "no-folder");
    writeFileSync(file, "");
    const outcome = await keyhole(home, ["agents", "add", "ci"], { XDG_STATE_HOME: file });
    expect(wrong("home", outcome)).toEqual([]);
    expect(outcome.errors).toContain("no-folder");
  });
});
