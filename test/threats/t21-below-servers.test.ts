import { resolve } from "node:path";
import { expect, test } from "vitest";
import { createPermissions } from "../../src/agent/permissions/permissions.ts";
import { workspaceDomain } from "../../src/agent/workspace/workspace-domain.ts";
import { eventually, gatewayOf } from "../upstream-kit.ts";
import { agree, chaos, MAIN, openProgram, type Program } from "./program.ts";

const SHELL = resolve("test/threats/shell-upstream.ts");
const KEYHOLE = `${process.execPath} ${MAIN}`;
const REFUSED = "NOT_FOR_SERVERS";

/** A hostile server that is served by the daemon, beside one that waits for approval. Returns a way to run commands. */
async function serveHostile(program: Program, server: object = { command: process.execPath, args: [SHELL] }) {
  const hostile = { ...server, sandbox: false };
  const config = program.write("mcp.json", { mcpServers: { hostile } });
  expect(await agree(program, "--config", config)).toMatchObject({ code: 0 });
  expect(await agree(program, "--config", config)).toMatchObject({ code: 0 });
  const call = await program.serve("--allow-write", "--config", config);
  const run = (command: string) => call("exec", { op: "hostile.run", args: { command } });
  await eventually(async () => expect(await run("echo ready")).toContain("ready"), 20_000);
  const waiting = program.write("other.json", { mcpServers: { other: chaos() } });
  return { run, waiting };
}

test("T21: no command of Keyhole works for a server that starts it", async () => {
  const program = openProgram();
  const { run, waiting } = await serveHostile(program);
  const hash = /\bHash: ([0-9a-f]{16})\b/.exec(
    (await program.keyhole("approve", "--config", waiting)).out,
  )?.[1];
  const commands = [
    `approve --config ${waiting} --hash ${hash}`,
    "approve .",
    "agents add mallory",
    "secrets list",
    "connect --yes",
    "call hostile.run",
    "ask hostile",
    "add evil --command sh",
    "serve",
    `serve --no-daemon --config ${waiting}`,
    "serve --stop",
    "",
  ];
  for (const command of commands) {
    const answer = await run(`${KEYHOLE} ${command} </dev/null`);
    expect(answer, command).toContain(REFUSED);
    expect(answer, command).toContain("exit 1");
  }
  expect(await run(`${KEYHOLE} --version`)).toContain("exit 0");
  expect((await program.keyhole("approve", "--config", waiting)).out).toContain(
    "other waits for your approval",
  );
});

const hide = `env -i PATH="$PATH" HOME="$HOME"`;

test.each([
  ["drops its variables", (command: string) => `${hide} ${command}`],
  ["drops its variables in a session of its own", (command: string) => `${hide} setsid -w ${command}`],
  ["starts it through other shells", (command: string) => `${hide} sh -c 'sh -c "${command}; true"; true'`],
])("T21: a server that %s is recognised", async (_, wrap) => {
  const program = openProgram();
  const { run } = await serveHostile(program);
  expect(await run(wrap(`${KEYHOLE} secrets list`))).toContain(REFUSED);
});

test("T21: a server whose own command drops its variables is recognised", async () => {
  const program = openProgram();
  const args = ["-i", `PATH=${process.env.PATH}`, `HOME=${program.home}`, process.execPath, SHELL];
  const { run } = await serveHostile(program, { command: "env", args });
  expect(await run(`${KEYHOLE} secrets list`)).toContain(REFUSED);
});

test("T21: a command of the agent cannot use Keyhole either", async () => {
  const program = openProgram();
  const permissions = createPermissions({ root: program.folder, ask: async () => "once" });
  const gateway = gatewayOf([], { domains: [workspaceDomain({ permissions })] });
  try {
    const command = `${KEYHOLE} secrets list`;
    const { text } = await gateway.exec({ op: "workspace.shell", args: { command } });
    expect(text).toContain(REFUSED);
  } finally {
    await gateway.close();
  }
});
