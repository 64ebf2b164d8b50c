import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";
import { keyhole } from "./kit.ts";

function setUp(): string {
  const home = temporaryFolder();
  writeFileSync(
    join(home, "notes.mjs"),
    `export const domains = [{ name: "notes", description: "Notes.",
      resources: [{ route: "notes://resources/manual", name: "manual", description: "The manual.", fetch: () => "Read me." }],
      tools: [
        { name: "delete_note", description: "Delete a note.", execute: () => "gone" },
        { name: "list_notes", description: "List notes.",
          execute: () => Array.from({ length: 5000 }, (_, index) => ({ id: index, text: "note " + index })) },
      ] }];`,
  );
  return home;
}

const NOTES = ["--config", "notes.mjs"];

test("show describes servers and tools, and loads documents", async () => {
  const home = setUp();
  const show = async (...words: string[]) => (await keyhole(home, ["show", ...words, ...NOTES])).out;
  expect(await show()).toMatch(/^1 server\nnotes \(\d+\)/);
  expect(await show("notes")).toContain("notes.note (2)\n  delete, list\n");
  expect(await show("notes.note")).toMatch(/notes\.note\.delete +destroys +Delete a note\./);
  expect(await show("notes.note.delete")).toContain("Delete a note.");
  expect(await show("notes://tools/note/delete")).toContain("Delete a note.");
  expect(await show("notes://resources/manual")).toContain("Read me.");
  expect(JSON.parse(await show("notes://resources/manual", "--json"))).toMatchObject({
    results: [{ success: true, data: { content: "Read me." } }],
  });
  const missing = await keyhole(home, ["show", "notes://resources/nothing", ...NOTES]);
  expect([missing.code, missing.out]).toEqual([1, expect.stringContaining("NOT_FOUND")]);
});

test("call runs a reading tool without a question, and prints the whole result", async () => {
  const { code, out } = await keyhole(setUp(), ["call", "notes.note.list", ...NOTES]);
  expect(code).toBe(0);
  expect(out).toContain("note 4999");
  expect(out).not.toContain("result://");
});

test("servers NAME shows what a server runs, and each tool by both names with what it does", async () => {
  const home = setUp();
  const own = await keyhole(home, ["servers", "notes", ...NOTES]);
  expect(own.out).toMatch(/^notes {2}ready\n/);
  expect(own.out).toMatch(/ {2}delete_note {2}→ notes\.note\.delete {2}destroys, asks {2}\d+ tokens\n/);
  expect(own.out).toMatch(/ {2}list_notes {3}→ notes\.note\.list {4}reads {11}\d+ tokens\n/);
  expect(own.out).toContain("2 tools, 1 document;");
  const mcp = resolve(home, "mcp.json");
  const server = { command: process.execPath, args: [resolve("src/testing/chaos-upstream.ts")] };
  writeFileSync(mcp, JSON.stringify({ mcpServers: { every: server } }));
  const waiting = await keyhole(home, ["servers", "every", "--config", mcp]);
  expect(waiting.out).toMatch(/^every {2}waits for approval: keyhole approve every --config .*\n {2}runs /);
  const { tools, isApproved } = JSON.parse(
    (await keyhole(home, ["servers", "every", "--config", mcp, "--json"])).out,
  );
  expect([tools, isApproved]).toEqual([[], false]);
});

test("servers says why a server is down and what to type", async () => {
  const home = setUp();
  writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers: { dead: { command: "no-such" } } }));
  const config = ["--config", "mcp.json"];
  const { out } = await keyhole(home, ["approve", "dead", ...config]);
  await keyhole(home, ["approve", "dead", "--hash", /Hash: (\S+)/.exec(out)?.[1] ?? "", ...config]);
  for (const words of [[], ["dead"]]) {
    const shown = await keyhole(home, ["servers", ...words, ...config]);
    expect(shown.out).toMatch(
      /dead +down: it cannot be started \(ENOENT\): no-such was not found\. keyhole doctor --config mcp\.json says how to fix it\n/,
    );
  }
});

test("uninstall restores every client byte for byte, ends the daemon, and says what is left", async () => {
  const program = openProgram();
  const texts = new Map(
    [".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"].map((path) => [
      join(program.home, path),
      `{ "mcpServers": {\n  "tasks":   ${JSON.stringify(chaos())} } }\n`,
    ]),
  );
  for (const [path, text] of texts) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  writeFileSync(join(program.home, ".bashrc"), 'eval "$(keyhole completion bash)"\n');
  for (const client of ["cursor", "windsurf"])
    expect(await program.keyhole("connect", client, "--yes")).toMatchObject({ code: 0 });
  await program.serve("--config", join(program.home, ".keyhole", "settings.json"));
  const texted = () => [...texts.keys()].map((path) => readFileSync(path, "utf8"));
  const connected = texted();

  const dry = await program.keyhole("uninstall", "--dry-run");
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was changed.") });
  expect(await program.keyhole("uninstall")).toMatchObject({
    code: 1,
    errors: expect.stringContaining("PERSON_NEEDED"),
  });
  expect(texted()).toEqual(connected);

  const { out, code } = await program.keyhole("uninstall", "--yes");
  expect(code).toBe(0);
  expect(texted()).toEqual([...texts.values()]);
  expect(out).toMatch(/These get their servers back: Cursor, Windsurf\.\nThe daemon ends: process \d+\./);
  for (const left of [".local/state/keyhole", ".cache/keyhole"])
    expect(out).toContain(`rm -r ${join(program.home, left)}\n`);
  expect(out).toContain(`the line with keyhole completion in ${join(program.home, ".bashrc")}`);
  expect(out).toContain("npm uninstall -g keyhole");
  await eventually(async () =>
    expect((await program.keyhole("serve", "--stop")).out).toBe("No daemon runs.\n"),
  );
  const again = JSON.parse((await program.keyhole("uninstall", "--json")).out);
  expect(again).toMatchObject({ undone: [], failed: [], daemon: null });
  expect(existsSync(join(program.home, ".local/state/keyhole"))).toBe(true);
});
