import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";

const MAIN = resolve("src/program/main.ts");
const folder = mkdtempSync(join(tmpdir(), "keyhole-test-"));
const config = join(folder, "notes.ts");

writeFileSync(
  config,
  `export const domains = [{
    name: "notes",
    description: "Short notes.",
    tools: [
      { name: "create_note", description: "Write down a note.", execute: (args) => args },
      { name: "delete_note", description: "Delete a note.", execute: () => "gone" },
      { name: "list_notes", description: "List notes.", execute: ({ tag }) => [{ text: "hello \\u001b[31m", tag }] },
    ],
  }];`,
);

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function keyhole(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((settle) => {
    const options = { cwd: folder, env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, ...env } };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      settle({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const local = (...args: string[]) => keyhole([...args, "--config", config]);

test("ask shows what was found and why", async () => {
  const { stdout, code } = await local("ask", "write", "down", "a", "note", "--explain", "--limit", "2");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^1\. notes\.note\.create\(\) {2}\[writes\]\n {3}Write down a note\.\n {3}why: words/,
  );
  expect(stdout).toContain("2. ");
  expect(stdout).not.toContain("3. ");
});

test("ask looks at one server, also by the old name of the option", async () => {
  for (const option of ["--server", "--domain"])
    expect((await local("ask", "a note", option, "notes")).stdout).toMatch(/^1\. notes\./);
  expect((await local("ask", "a note", "--server", "nobody")).code).toBe(1);
});

test("call passes values on, and control characters of a result become visible", async () => {
  const { stdout } = await local("call", "notes.note.list", "tag=7");
  expect(stdout).toContain('"tag":7');
  expect(stdout).not.toContain("\u001b");
});

test("without a person to ask, writing needs --allow-write", async () => {
  const refused = await local("call", "notes.note.create", "text=milk");
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("PERMISSION_DENIED")]);
  expect(refused.stdout).toContain("Add --allow-write to allow it");
  expect(refused.stdout).not.toContain("owner of the gateway");
  const made = await local("call", "notes.note.create", "text=milk", "--allow-write", "--json");
  expect(JSON.parse(made.stdout)).toMatchObject({ ok: true, result: { text: "milk" } });
});

test("a destructive tool runs dry without a person to ask, and says how they allow it", async () => {
  const dry = await local("call", "notes.note.delete", "--allow-write");
  expect(dry.stdout).toContain("nothing was changed");
  expect(dry.stdout).toMatch(/Type keyhole approve call:\w{6} in a terminal/);
  expect(dry.code).toBe(3);
  expect((await local("call", "notes.note.delete", "--allow-write", "--dry-run")).code).toBe(0);
  for (const option of ["--no-dry-run", "--dry-run=false"]) {
    const refused = await local("call", "notes.note.delete", "--allow-write", option);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("APPROVAL_REQUIRED")]);
  }
});

test("a script does the same, and asks under one name however often it runs", async () => {
  const command = ["script", "return tools.notes.note.delete({})"];
  const dry = await local(...command, "--allow-write");
  const named = /Type keyhole approve call:\w{6} in a terminal/;
  expect([dry.code, dry.stdout]).toEqual([3, expect.stringMatching(named)]);
  expect(dry.stdout).not.toMatch(/dry_run|plan:/);
  const again = await local(...command, "--allow-write");
  expect(named.exec(again.stdout)?.[0]).toBe(named.exec(dry.stdout)?.[0]);
});

test.each([
  [["asc"], 2, "Did you mean keyhole ask?"],
  [["ask", "x", "--explian"], 1, "did you mean --explain?"],
  [["ask", "x"], 1, "Keyhole has no servers yet."],
  [["ask", "x", "--url", "http://127.0.0.1:1/mcp"], 1, "No gateway answers at http://127.0.0.1:1/mcp"],
  [["ask", "x", "--url", "nowhere"], 1, "it is no address"],
])("keyhole %j says what is wrong", async (args, expected, said) => {
  const { code, stderr } = await keyhole(args);
  expect([code, stderr]).toEqual([expected, expect.stringContaining(said)]);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("--version prints the version alone", async () => {
  expect((await keyhole(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

const note = defineTool({ name: "list_notes", description: "List notes.", execute: () => ["from afar"] });
const gateway = createGateway({
  domains: [defineDomain({ name: "notes", description: "Notes.", tools: [note] })],
});
const server = createMcpServer(gateway);
let http: Awaited<ReturnType<typeof serveHttp>>;
beforeAll(async () => {
  http = await serveHttp(server, { token: "a-token-of-this-test" });
});
afterAll(async () => {
  await http.close();
  await server.close();
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

test("an address reaches a gateway that runs already", async () => {
  const env = { KEYHOLE_URL: http.url, KEYHOLE_TOKEN: "a-token-of-this-test" };
  const asked = await keyhole(["ask", "list notes", "--json"], env);
  expect(JSON.parse(asked.stdout).hits[0].op).toBe("notes.note.list");
  expect((await keyhole(["call", "notes.note.list"], env)).stdout).toContain("from afar");
  const wrong = await keyhole(["ask", "x"], { ...env, KEYHOLE_TOKEN: "another" });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("GATEWAY_UNREACHABLE")]);
});
