import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { readAddress } from "../src/program/daemon/daemon-paths.ts";
import { greet } from "../src/program/daemon/reach-daemon.ts";
import { openConsents } from "../src/program/open/stores.ts";
import { fromMcpConfig } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { createPerson, type Person } from "./daemon-kit.ts";
import { eventually, processesWith } from "./upstream-kit.ts";

/** A server of the tests, whose process can be found by the word. */
function marked(word: string, value = "1") {
  return {
    command: process.execPath,
    args: ["src/testing/chaos-upstream.ts"],
    cwd: process.cwd(),
    env: { [word]: value },
  };
}

/** The value of a variable of the client. */
const WHO = `\${WHO}`;

function environmentOf(person: Person, who: string) {
  return { PATH: process.env.PATH, HOME: person.folder, WHO: who, TERM_SESSION_ID: who };
}

verifies(
  "daemon:shared",
  "clients with different configs use one process of a server, each with its own rights",
  async () => {
    const person = createPerson();
    const word = `DAEMON_${process.pid}`;
    const config = person.config("one", marked(word));
    const one = await person.client({ config });
    const two = await person.client({ config: person.config("two", marked(word)) });
    const reader = await person.client({ config, allowWrite: false });
    expect(await one.call("exec", { op: "one.add", args: { sum: 1 } })).toContain('"sum":1');
    expect(await two.call("exec", { op: "two.add", args: { sum: 1 } })).toContain('"sum":1');
    expect(await reader.call("exec", { op: "one.add", args: { sum: 1 } })).toContain("PERMISSION_DENIED");
    expect(processesWith(`${word}=`)).toHaveLength(1);
    expect(person.daemons).toHaveLength(1);
  },
);

verifies(
  "daemon:shared",
  "a client with another environment, or of a server with state, has a server of its own",
  async () => {
    const person = createPerson();
    const word = `OWNER_${process.pid}`;
    const config = person.config("chaos", marked(word, WHO));
    const stateful = person.config("browser", { ...marked(`${word}_BROWSER`), stateful: true });
    for (const who of ["ann", "bob"]) {
      const { call } = await person.client({ config, env: environmentOf(person, who) });
      expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
      const browser = await person.client({ config: stateful });
      expect(await browser.call("exec", { op: "browser.add", args: { sum: 2 } })).toContain('"sum":2');
    }
    expect(processesWith(`${word}=ann`)).toHaveLength(1);
    expect(processesWith(`${word}=bob`)).toHaveLength(1);
    expect(processesWith(`${word}_BROWSER=`)).toHaveLength(2);
  },
);

test("T13: a variable whose name a config spells with escapes parts the clients that differ in it", async () => {
  const person = createPerson();
  const word = `SPELT_${process.pid}`;
  const config = person.config("chaos", marked(word, WHO));
  writeFileSync(config, readFileSync(config, "utf8").replace(WHO, "\\u0024\\u007bWH\\u004f}"));
  for (const who of ["ann", "bob"]) {
    const { call } = await person.client({ config, env: environmentOf(person, who) });
    expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
    expect(processesWith(`${word}=${who}`)).toHaveLength(1);
  }
});

test("T17: a message that is too large is refused, and the session goes on", async () => {
  const person = createPerson();
  const { client, call, socket } = await person.client({ config: person.config("chaos") });
  await client.listTools();
  const before = socket();
  const large = call("exec", { op: "chaos.add", args: { sum: 1, note: "x".repeat(11 * 2 ** 20) } });
  await expect(large).rejects.toThrow("larger than");
  expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
  expect(socket()).toBe(before);
  // A client that speaks to the daemon without a relay loses the connection at once.
  const closed = new Promise((resolve) => before!.once("close", resolve));
  before!.write(`{${"x".repeat(11 * 2 ** 20)}\n`);
  await closed;
  expect(await call("exec", { op: "chaos.add", args: { sum: 3 } })).toContain('"sum":3');
});

verifies(
  "daemon:shared",
  "a config that comes to use a variable parts the clients that differ in it",
  async () => {
    const person = createPerson();
    const word = `LATER_${process.pid}`;
    const config = person.config("chaos", marked(word, "all"));
    const ann = await person.client({ config, env: environmentOf(person, "ann") });
    const bob = await person.client({ config, env: environmentOf(person, "bob") });
    expect(await bob.call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
    const later = { mcpServers: { chaos: marked(word, WHO) } };
    await openConsents().give(fromMcpConfig(later).map((source) => source.program()));
    person.config("chaos", later.mcpServers.chaos);
    const call = { op: "chaos.add", args: { sum: 3 } };
    await eventually(async () => {
      expect(await ann.call("exec", call)).toContain('"sum":3');
      expect(await bob.call("exec", call)).toContain('"sum":3');
      expect(processesWith(`${word}=ann`)).toHaveLength(1);
      expect(processesWith(`${word}=bob`)).toHaveLength(1);
    }, 30_000);
  },
);

verifies("daemon:hand-over", "a newer program takes over, and no call is dropped", async () => {
  const person = createPerson();
  const old = await person.start("0.0.9");
  const config = person.config("chaos");
  const before = await person.client({ config, version: "0.0.9" });
  const slow = before.call("exec", { op: "chaos.slow", args: { ms: 1_500 } });
  await eventually(async () => expect((await status(person))?.servers).toBe(1));
  const after = await person.client({ config, version: "0.1.0" });
  expect(await after.call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
  expect(readAddress(person.paths)?.version).toBe("0.1.0");
  expect(await slow).toContain("at last");
  await old.ended;
  // The older client goes on with the new daemon, in the same session.
  expect(await before.call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
  expect((await status(person))?.clients).toBe(2);
});

verifies("daemon:hand-over", "handles and the session of a client go on with the next daemon", async () => {
  const person = createPerson();
  const old = await person.start("0.0.9");
  const config = person.config("chaos");
  const before = await person.client({ config, version: "0.0.9", client: "the-client" });
  const large = await before.call("exec", {
    op: "chaos.add",
    args: { rows: Array.from({ length: 3_000 }, (_, row) => `row ${row}`) },
  });
  const [handle] = /\bresult:\/\/[\w-]+/.exec(large) ?? [];
  expect(handle).toBeDefined();
  const memory = () => before.call("get", { routes: ["session://current"] });
  expect(await memory()).toContain("chaos.add");
  await person.client({ config, version: "0.1.0" });
  await old.ended;
  expect(await before.call("get", { routes: [handle!] })).toContain("row 1");
  expect(await memory()).toContain("chaos.add");
});

verifies(
  "daemon:hand-over",
  "a stopped daemon ends after its calls, and the next request starts another",
  async () => {
    const person = createPerson();
    const { client, call } = await person.client({ config: person.config("chaos") });
    await client.listTools();
    person.daemons[0]!.stop();
    await person.daemons[0]!.ended;
    expect(existsSync(person.paths.address)).toBe(false);
    expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
    expect(person.daemons).toHaveLength(2);
  },
);

verifies(
  "daemon:crash",
  "a lost connection answers the calls in flight with a problem, and the session goes on",
  async () => {
    const person = createPerson();
    const { call, socket } = await person.client({ config: person.config("chaos") });
    const lost = call("exec", { op: "chaos.hang", args: {} });
    await eventually(async () => expect((await status(person))?.servers).toBe(1));
    socket()!.destroy();
    expect(await lost).toContain("DAEMON_LOST");
    expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
  },
);

verifies("daemon:idle", "a daemon without clients ends and leaves nothing", async () => {
  const person = createPerson();
  const { ended, address } = await person.start("0.1.0", 50);
  await ended;
  expect(existsSync(person.paths.address)).toBe(false);
  expect(existsSync(address.path)).toBe(false);
});

verifies("daemon:idle", "a daemon whose folder is gone, or whose place another has taken, ends", async () => {
  const person = createPerson();
  const first = await person.start();
  const second = await person.start();
  await first.ended;
  writeFileSync(person.paths.address, "{}");
  await second.ended;
});

verifies(
  "daemon:owner",
  "only the owner can use the folder and the socket, and only who knows the token",
  async () => {
    const person = createPerson();
    const { address } = await person.start();
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(person.paths.folder)).toBe(0o700);
    expect(mode(address.path)).toBe(0o600);
    expect(mode(person.paths.address)).toBe(0o600);
    expect(
      await greet({ ...address, token: `${address.token.slice(0, -1)}!` }, { version: "1", want: "status" }),
    ).toBe(undefined);
    const silent = connect(address.path);
    silent.write("not a first line\n");
    await once(silent, "close");
  },
);

verifies("daemon:owner", "another user cannot connect", async ({ skip }) => {
  const setpriv = ["--reuid=65534", "--regid=65534", "--clear-groups"];
  const isRoot = process.getuid?.() === 0 && spawnSync("setpriv", [...setpriv, "true"]).status === 0;
  if (!isRoot) return skip("another user needs root and setpriv");
  const person = createPerson();
  const { address } = await person.start();
  const script = `require("node:net").connect(process.argv[1]).on("connect", () => console.log("connected"))
    .on("error", (error) => console.log(error.code)); `;
  const tryIt = () =>
    spawnSync("setpriv", [...setpriv, process.execPath, "-e", script, address.path], { encoding: "utf8" });
  expect(tryIt().stdout.trim()).toBe("EACCES");
  // The socket alone keeps others out, too.
  chmodSync(person.folder, 0o711);
  chmodSync(`${person.folder}/state`, 0o711);
  chmodSync(person.paths.folder, 0o711);
  expect(tryIt().stdout.trim()).toBe("EACCES");
});

test("a folder that others may look into is refused", async () => {
  const person = createPerson();
  await (await person.start()).stop();
  chmodSync(person.paths.folder, 0o755);
  await expect(person.client({ config: person.config("chaos") })).rejects.toMatchObject({
    code: "DAEMON_FAILED",
  });
});

verifies(
  "daemon:judged",
  "a server that nobody has consented to does not start through the daemon",
  async () => {
    const person = createPerson();
    const { call } = await person.client({ config: person.config("chaos"), trust: false });
    expect(await call("exec", { op: "chaos.add", args: {} })).toMatch(/UNAVAILABLE|NOT_FOUND/);
    expect(await call("ask", { query: "chaos" })).toContain("a person has to approve what it runs");
    expect((await status(person))?.servers).toBe(0);
    const trusting = await person.client({ config: person.config("chaos"), trust: true });
    expect(await trusting.call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
    // The trust of one client is not that of another.
    expect(await call("exec", { op: "chaos.add", args: {} })).toMatch(/UNAVAILABLE|NOT_FOUND/);
  },
);

test("a config that cannot be used is told to the client", async () => {
  const person = createPerson();
  const config = person.config("chaos");
  writeFileSync(config, "{ nonsense");
  await expect(person.client({ config })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

async function status({ paths }: Person) {
  const address = readAddress(paths);
  const met = address && (await greet(address, { version: "0.1.0", want: "status" }));
  met?.socket.destroy();
  return met?.welcome.ok && "status" in met.welcome ? met.welcome.status : undefined;
}
