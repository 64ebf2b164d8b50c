// Mistakes of new users: each is answered with the problem and a fix, and the fix works when it is typed.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProgram } from "../threats/program.ts";
import { keyhole, type Outcome } from "./kit.ts";

const NODE = process.execPath;
const EVERY = { command: NODE, args: [resolve("src/testing/chaos-upstream.ts")] };
const serving = (server: object) => ({ mcpServers: { a: server } });

/** A stack, an object of Node's own, or a text of zod in place of a sentence. */
const RAW = /^\s+at .+[:(]\d+|node:internal|\[object Object\]|Invalid input|received|Too small|Unrecognized/m;
const MOST_LINES = 9;

interface Mistake {
  readonly typed: string;
  /** The problem, as it is said. */
  readonly says: string;
  /** The fix, as it is said. */
  readonly fix: string;
  /** The command of the fix, if the fix is one. Default: the typed one again, after `change`. */
  readonly next?: string;
  /** Makes the mistake, where it is no command. */
  readonly before?: () => void;
  /** Does what the fix says, where it is no command. */
  readonly change?: () => void;
  readonly env?: () => Record<string, string>;
  /** The exit code of the mistake. Default: 1. */
  readonly code?: number;
}

const home = mkdtempSync(join(tmpdir(), "keyhole-mistakes-"));
const write = (path: string, content: unknown) => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};
const other = createServer((_, answer) => {
  answer.statusCode = 401;
  answer.end("no");
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  port = (other.address() as AddressInfo).port;
  write("good.json", serving(EVERY));
  write("refuses.json", serving({ url: `http://127.0.0.1:${port}/mcp` }));
  write(
    "notes.mjs",
    `const text = { type: "string" }, stars = { type: "integer" };
    const inputSchema = { type: "object", properties: { text, stars }, required: ["text"] };
    export const domains = [{ name: "notes", description: "Notes.", tools: [
      { name: "create_note", description: "Write a note.", inputSchema, execute: (args) => args },
      { name: "delete_note", description: "Delete a note.", execute: () => "gone" },
      { name: "list_notes", description: "List notes.", execute: () => [] } ] }];`,
  );
  write("profiles.json", { ...serving(EVERY), profiles: { work: { servers: ["a"] } } });
  write("plain", "");
  write("tool.sh", "#!/bin/sh\n");
  chmodSync(join(home, "tool.sh"), 0o644);
});
afterAll(() => {
  other.close();
  rmSync(home, { recursive: true, force: true });
});

/** A config with a mistake, which a change of the file repairs. */
function wrongConfig(file: string, content: unknown, says: string, fix: string): Mistake {
  beforeAll(() => void write(file, content));
  return { typed: `ask x --config ${file}`, says, fix, change: () => void write(file, serving(EVERY)) };
}

/** A server that cannot be used. The doctor says what to correct. */
function deadServer(file: string, server: object, says: string, fix: string): Mistake {
  beforeAll(() => void write(file, serving(server)));
  const change = () => void write(file, serving(EVERY));
  return { typed: `doctor --config ${file} --no-start`, says, fix, change };
}

/** `command | problem | fix | command of the fix | exit code of the mistake, if it is not 1`. */
const TYPED = `
verson | "verson" not found | keyhole version | version | 2
servrs | "servrs" not found | keyhole servers | servers | 2
shwo | not found | keyhole show | show --config notes.mjs | 2
frobnicate | "frobnicate" not found | help COMMAND | help ask | 2
helpp | not found | help | help | 2
ask x --confg notes.mjs | --confg is not an option | --config | ask x --config notes.mjs
doctor --fix | --fix is not an option | keyhole doctor --help | doctor --help
servers --jsn | --jsn is not an option | --json | servers --json
ask x --config | --config needs a value | keyhole ask --help | ask --help
servers --json=1 | --json takes no value | keyhole servers --help | servers --json
uninstall now | too many arguments | keyhole uninstall --help | uninstall --help
agents what | not found | keyhole agents --help | agents --help
completion tcsh | tcsh not found | known: bash | completion bash
completion | is missing | known: bash | completion bash
catalog | name one of | lint | catalog lint --config notes.mjs
ask x --config god.json | the file does not exist | --config good.json | ask x --config good.json
call a.add --config good.json | cannot be used now | --config good.json | call a.add --trust --allow-write --config good.json
call notes.note.creat text=a --config notes.mjs | notes.note.creat not found | Did you mean notes.note.create? | call notes.note.create text=a --allow-write --config notes.mjs
call creat_note --config notes.mjs | creat_note not found | Did you mean notes.note.create? | call notes.note.create text=a --allow-write --config notes.mjs
show notes.note.lst --config notes.mjs | not found | notes.note.list | show notes.note.list --config notes.mjs
show elsewhere --config notes.mjs | elsewhere not found | keyhole ask | ask elsewhere --config notes.mjs
call notes.note.create --allow-write --config notes.mjs | text is required | keyhole call notes.note.create text=text --allow-write --config notes.mjs | call notes.note.create text=text --allow-write --config notes.mjs
call notes.note.create txt=a --allow-write --config notes.mjs | rename "txt" to "text" | keyhole show notes.note.create --config notes.mjs | show notes.note.create --config notes.mjs
call notes.note.create text=a stars=many --allow-write --config notes.mjs | stars must be an integer | Such as: keyhole call | call notes.note.create text=a stars=2 --allow-write --config notes.mjs
call notes.note.create text=a --config notes.mjs | this caller may not write | Add --allow-write | call notes.note.create text=a --allow-write --config notes.mjs
call notes.note.delete --allow-write --config notes.mjs | it ran dry | keyhole approve call: | call notes.note.delete --allow-write --dry-run --config notes.mjs | 3
call notes.note.delete --apply --allow-write --config notes.mjs | --apply | keyhole call --help | call notes.note.delete --dry-run --allow-write --config notes.mjs
call notes.note.create --args {text --config notes.mjs | --args | must be an object | call notes.note.create --args {"text":"a"} --allow-write --config notes.mjs
ask x --limit many --config notes.mjs | The input of ask is invalid: --limit must be a number | keyhole ask --help | ask x --limit 2 --config notes.mjs
ask x --max-tokens -5 --config notes.mjs | --max-tokens needs a value | keyhole ask --help | ask x --max-tokens 500 --config notes.mjs
script return( --config notes.mjs | SyntaxError | Correct the script | script return(1) --config notes.mjs
script return(tools.notes.note.lst({})) --config notes.mjs | notes.note.lst not found | notes.note.list | script return(tools.notes.note.list({})) --config notes.mjs
ask x --profile wrk --config profiles.json | profile wrk not found | work | ask x --profile work --config profiles.json
servers nobody --config good.json | nobody not found | keyhole servers --config good.json | servers --config good.json
approve nobody --config good.json | nobody not found | keyhole servers --config good.json | servers --config good.json
add a | neither a command nor a url | Correct | add a -- node
add 9lives -- node | begins with a letter | keyhole add --help | add nine -- node
remove nobody | nobody not found | keyhole servers | servers
agents add ci! | a name has letters, digits | keyhole agents --help | agents add ci
agents add x --expires 2020-01-01 | a date to come | such as 30d | agents add x --expires 30d
agents revoke nobody | agent nobody not found | keyhole agents | agents
secrets remove nope | secret nope not found | keyhole secrets | secrets
connect cursr | client cursr not found | cursor | connect cursor --dry-run
connect netscape | client netscape not found | known: claude-code | connect zed --dry-run
disconnect windsurf | Windsurf is not connected | Windsurf | servers
logs calls --since yesterday | --since needs a date | 12h | logs calls --since 12h
logs -n many | --number must be a whole number | keyhole logs --help | logs -n 5
ask x --url nowhere | it is no address | leave out the address | ask x --config notes.mjs
ask x --url http://127.0.0.1:1/mcp | nothing listens | Check the address | ask x --config notes.mjs
serve --http --port 99999 --config notes.mjs | --port must be a whole number up to 65535 | keyhole serve --help | serve --help
serve --surface none --config notes.mjs | --surface must be one of lanes | keyhole serve --help | serve --help`;

const MISTAKES: readonly Mistake[] = [
  ...TYPED.trim()
    .split("\n")
    .map((line) => {
      const [typed = "", says = "", fix = "", next = "", code = "1"] = line.split(" | ");
      return { typed, says, fix, next, code: Number(code) };
    }),
  {
    typed: "ask x --config far/away.json",
    says: "the file does not exist",
    fix: "leave out --config",
    change: () => void write("far/away.json", serving(EVERY)),
  },
  wrongConfig("words.json", "mcpServers: []", "words.json:1:1 cannot be used", "line 1, column 1"),
  wrongConfig("cut.json", '{ "mcpServers": { ', "close brace expected", "line 1, column 19"),
  wrongConfig(
    "twice.json",
    '{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}',
    'the key "a" is there twice',
    "Correct the file in line 1",
  ),
  wrongConfig("field.json", { mcpServer: {} }, '"mcpServer" is not known', "Write mcpServers instead."),
  wrongConfig("list.json", { mcpServers: [EVERY] }, "mcpServers must be an object", '"mcpServers": { "NAME"'),
  wrongConfig("none.json", {}, "neither mcpServers nor servers", '"mcpServers": { "NAME"'),
  wrongConfig(
    "type.json",
    serving({ command: ["node"] }),
    "command must be a text",
    "Correct the file in line 1",
  ),
  wrongConfig(
    "args.json",
    serving({ command: "node", args: "x" }),
    "args must be a list",
    "Correct the file in line 1",
  ),
  wrongConfig(
    "bare.json",
    serving({ args: [] }),
    "neither a command nor a url",
    "Correct the file in line 1",
  ),
  wrongConfig(
    "both.json",
    serving({ command: "x", url: "http://x.example" }),
    "both a command and a url",
    "Correct the file in line 1",
  ),
  wrongConfig(
    "slip.json",
    serving({ comand: "node" }),
    'the field nearest to "comand" is command',
    "Correct the file in line 1",
  ),
  {
    ...wrongConfig(
      "throws.mjs",
      "throw new TypeError('out of paper');",
      "out of paper",
      "it has to load without an error",
    ),
    change: () => void write("throws.mjs", "export const domains = [{ name: 'n', description: 'N.' }];"),
    env: () => ({}),
    next: "show --config notes.mjs",
  },
  {
    ...wrongConfig(
      "empty.mjs",
      "export const limits = {};",
      "exports neither domains nor sources",
      "Export domains",
    ),
    next: "show --config notes.mjs",
  },
  deadServer(
    "absent.json",
    { command: "no-such-program" },
    "no-such-program is not on the PATH",
    "Install it",
  ),
  deadServer("script.json", { command: join(home, "tool.sh") }, "tool.sh", "fix: "),
  deadServer("folder.json", { ...EVERY, cwd: "/no/such/folder" }, "/no/such/folder", "Correct cwd"),
  deadServer(
    "unset.json",
    { ...EVERY, env: { KEY: "$" + "{NOT_SET}" } },
    "the variable NOT_SET is not set",
    "Set NOT_SET",
  ),
  deadServer(
    "address.json",
    { url: "localhost:3000/mcp" },
    "its url begins with localhost:",
    "http and https",
  ),
  deadServer("no-address.json", { url: "not an address" }, "its url is no address", "https://host/path"),
  {
    ...deadServer(
      "secret.json",
      { ...EVERY, env: { KEY: "$" + "{secret:GITHUB}" } },
      "the secret GITHUB is not set",
      "keyhole secrets set GITHUB",
    ),
  },
  {
    typed: "ask x --trust --config absent2.json",
    says: "no-such-program was not found",
    fix: "keyhole doctor --config absent2.json",
    code: 0,
    change: () => void write("absent2.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config dead.json",
    says: "nothing listens at its url",
    fix: "keyhole doctor --config dead.json",
    code: 0,
    change: () => void write("dead.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config crash.json",
    says: "it said: Error: TOKEN is required",
    fix: "keyhole doctor --config crash.json",
    code: 0,
    change: () => void write("crash.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config cwd.json",
    says: "its cwd /no/such does not exist",
    fix: "keyhole doctor --config cwd.json",
    code: 0,
    change: () => void write("cwd.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config run.json",
    says: "tool.sh may not be run",
    fix: "keyhole doctor --config run.json",
    code: 0,
    change: () => void write("run.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config refuses.json",
    says: "it wants a login (HTTP 401)",
    fix: "keyhole login a --config refuses.json",
    code: 0,
    change: () => void write("refuses.json", serving(EVERY)),
  },
  {
    typed: "ask x --trust --config hung.json",
    says: "a has not answered yet",
    fix: "this goes on without it",
    code: 0,
    change: () => void write("hung.json", serving(EVERY)),
  },
  {
    typed: "connect windsurf --dry-run",
    says: "close brace expected in line 1",
    fix: "Correct the file",
    before: () => void write(".codeium/windsurf/mcp_config.json", '{ "mcpServers": { '),
    change: () => void write(".codeium/windsurf/mcp_config.json", {}),
  },
  {
    typed: "agents add cd",
    says: "a file stands where a folder should be",
    fix: "Set KEYHOLE_STATE",
    env: () => ({ XDG_STATE_HOME: join(home, "plain") }),
    change: () => void rmSync(join(home, "plain")),
  },
  {
    typed: "doctor --no-start --config good.json",
    says: "it cannot be written (ENOENT)",
    fix: "Set KEYHOLE_STATE to a folder that you can write",
    env: () => ({ XDG_STATE_HOME: "/proc/keyhole" }),
    next: "version",
  },
];

beforeAll(() => {
  write("absent2.json", serving({ command: "no-such-program" }));
  write("dead.json", serving({ url: "http://127.0.0.1:1/mcp" }));
  write(
    "crash.json",
    serving({ command: NODE, args: ["-e", "console.error('Error: TOKEN is required'); process.exit(1)"] }),
  );
  write("cwd.json", serving({ ...EVERY, cwd: "/no/such" }));
  write("run.json", serving({ command: join(home, "tool.sh") }));
  write("hung.json", serving({ command: NODE, args: ["-e", "setInterval(() => {}, 1000)"] }));
});

const said = ({ out, errors }: Outcome) => `${out}\n${errors}`.trim();

test.each(MISTAKES)("keyhole $typed", async ({ typed, says, fix, next, before, change, env, code = 1 }) => {
  before?.();
  const outcome = await keyhole(home, typed.split(" ").filter(Boolean), env?.());
  expect(said(outcome)).toContain(says);
  expect(said(outcome)).toContain(fix);
  expect(said(outcome)).not.toMatch(RAW);
  expect(outcome.code, said(outcome)).toBe(code);
  if (code === 1) expect(said(outcome).split("\n").length).toBeLessThanOrEqual(MOST_LINES);
  change?.();
  const words = (next ?? typed).split(" ").filter(Boolean);
  const fixed = await keyhole(home, words, next === undefined ? env?.() : {});
  expect(said(fixed)).not.toContain(says);
  expect(fixed.code, said(fixed)).toBe(0);
});

test("there are at least sixty", () => expect(MISTAKES.length).toBeGreaterThanOrEqual(60));

test("a port that another program uses", async () => {
  const program = openProgram({ folder: home });
  const { code, errors } = await program.keyhole(
    "serve",
    "--http",
    "--port",
    `${port}`,
    "--config",
    "notes.mjs",
  );
  expect({ code, errors }).toMatchObject({
    code: 1,
    errors: expect.stringContaining("another program uses the port"),
  });
  expect(errors).toContain("--port");
});

test.each([
  [["chat", "--print", "hello"], "OPENAI_API_KEY"],
  [["chat", "--print", "hello", "--provider", "opnai"], "Did you mean openai?"],
  [["chat", "hello"], "choosing one needs a terminal"],
])("a model that is not there: keyhole %j", async (words, fix) => {
  const { code, out, errors } = await openProgram().keyhole(...words);
  expect(`${out}\n${errors}`).toContain(fix);
  expect(`${out}\n${errors}`).not.toMatch(RAW);
  expect(code).toBe(1);
});
