// Every command that a message tells a person to type works when it is typed.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole, type Outcome } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const REFUSED = /INVALID_INPUT|CONFIG_INVALID|not found|^Usage:/m;
/** Words of a sentence that follow a command. */
const SENTENCE = /^(again|with|in|shows|says|lists|only|adds|finds|and|or|then)$/;
const OPERATIONS = ["ask", "show", "call", "script"];

function setUp(): string {
  const home = temporaryFolder();
  const server = { command: process.execPath, args: [CHAOS] };
  writeFileSync(join(home, "my mcp.json"), JSON.stringify({ mcpServers: { every: server } }));
  writeFileSync(
    join(home, "notes.mjs"),
    `export const domains = [{ name: "notes", description: "Notes.", tools: [
      { name: "create_note", description: "Write.", execute: (args) => args },
      { name: "pay_note", lane: "write", requiresConfirmation: true, description: "Pay.", execute: () => 1 },
      { name: "delete_note", description: "Delete a note.", execute: () => "gone" } ] }];`,
  );
  return home;
}

const said = ({ out, errors }: Outcome) => `${out}\n${errors}`;

/** The commands in a text, as words. A command of an operation without words stands for the one that was typed. */
function commandsIn(text: string, typed: readonly string[]): string[][] {
  return [...text.matchAll(/\bkeyhole ([a-z].*)/g)].flatMap(([, line = ""]) => {
    const words: string[] = [];
    for (const [, quoted, plain = ""] of line.matchAll(/'([^']*)'|(\S+)/g)) {
      const word = quoted ?? plain.replace(/[.,:;\]]+$/, "");
      if (word === "" || SENTENCE.test(word)) break;
      words.push(word);
      if (quoted === undefined && word !== plain) break;
    }
    if (words.includes("--help") || words.some((word) => /^[A-Z]+$/.test(word))) return [];
    const [name = ""] = words;
    return [OPERATIONS.includes(name) && words.length === 1 ? [name, ...typed.slice(1)] : words];
  });
}

/** The command with each flag that the text proposes. */
function withFlags(text: string, typed: readonly string[]): string[][] {
  const flags = new Set(text.match(/--(?:allow-write|dry-run)\b/g) ?? []);
  return [...flags].map((flag) => [...typed, flag]);
}

const CONFIG = ["--config", "my mcp.json"];
const NOTES = ["--config", "notes.mjs"];

test.each<{ typed: string[]; says: string }>([
  { typed: ["approve", "nobody", ...CONFIG], says: "keyhole servers --config 'my mcp.json' shows all" },
  { typed: ["approve", "x://tools/y", ...CONFIG], says: "keyhole servers --config 'my mcp.json' shows all" },
  { typed: ["doctor", ...CONFIG], says: "keyhole approve every --config 'my mcp.json'" },
  { typed: ["servers", ...CONFIG], says: "keyhole approve every --config 'my mcp.json'" },
  { typed: ["servers", "every", ...CONFIG], says: "keyhole approve every --config 'my mcp.json'" },
  { typed: ["call", "notes.note.create", ...NOTES], says: "Add --allow-write" },
  { typed: ["call", "notes.note.delete", ...NOTES], says: "Add --allow-write" },
  {
    typed: ["call", "notes.note.delete", "--allow-write", ...NOTES],
    says: "keyhole approve call:",
  },
  { typed: ["call", "notes.note.delete", "--dry-run", ...NOTES], says: "--allow-write" },
  { typed: ["call", "notes.note.pay", "--allow-write", ...NOTES], says: "keyhole approve call:" },
])("keyhole $typed suggests commands that work", async ({ typed, says }) => {
  const home = setUp();
  const text = said(await keyhole(home, typed));
  expect(text).toContain(says);
  // A description speaks of the call that it describes.
  const call = typed[0] === "show" ? ["call", ...typed.slice(1)] : typed;
  const commands = [...commandsIn(text, call), ...withFlags(text, call)];
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands)
    expect(said(await keyhole(home, command)), command.join(" ")).not.toMatch(REFUSED);
});

test("after a server may start, what waits is approved with the config too", async () => {
  const home = setUp();
  const hash = async (...command: string[]) =>
    /Hash: (\S+)/.exec(said(await keyhole(home, [...command, ...CONFIG])))?.[1] ?? "none";
  const shown = await hash("approve", "every");
  const approved = await keyhole(home, ["approve", "every", "--hash", shown, ...CONFIG]);
  expect(approved.out).toContain(
    "every may start. keyhole approve every --config 'my mcp.json' shows its tools.",
  );
  const text = said(await keyhole(home, ["doctor", ...CONFIG]));
  expect(text).toContain("fix: keyhole approve every --config 'my mcp.json'");
  for (const command of commandsIn(text, []))
    expect(said(await keyhole(home, command)), command.join(" ")).not.toMatch(REFUSED);
});

test("a mistake in a config is said in words of the config, with the nearest key", async () => {
  const home = setUp();
  const mcpServers = {
    list: { command: "node", args: "x" },
    login: { url: "https://x.example/mcp", oauth: { grant: "x" } },
    tools: { command: "node" },
    good: { command: "node", args: ["-v"] },
  };
  const overrides = { tools: { tools: { read: { lan: "read" } } } };
  writeFileSync(join(home, "wrong.json"), JSON.stringify({ mcpServers, overrides }));
  const { errors } = await keyhole(home, ["servers", "--config", "wrong.json"]);
  expect(errors).toContain('the server "list": args must be a list.');
  expect(errors).toContain(
    'the server "login": oauth.grant must be one of "authorization_code", "client_credentials".',
  );
  expect(errors).toContain(
    'the server "tools": its override: tools.read.lan is not known; the nearest key is lane.',
  );
  expect(errors).not.toMatch(/Invalid|expected|Unrecognized|received/);
});
