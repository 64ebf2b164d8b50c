import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { listedHash, openProgram } from "../threats/program.ts";
import { eventually, processesWith } from "../upstream-kit.ts";
import { write } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A person whose Claude Code passes its whole environment on to servers, as it does. */
async function setUp(word: string) {
  const home = temporaryFolder();
  const { keyhole } = openProgram({ home, folder: home });
  onTestFinished(async () => {
    await keyhole("serve", "--stop");
  });
  const path = join(home, ".claude.json");
  const chaos = { command: process.execPath, args: [CHAOS], env: { [word]: "1" } };
  write(path, JSON.stringify({ mcpServers: { chaos } }));
  expect(await keyhole("connect", "claude-code", "--yes")).toMatchObject({ code: 0 });
  await eventually(async () => {
    const { out } = await keyhole("approve");
    expect((await keyhole("approve", "--hash", listedHash(out))).out).toContain("Approved");
  }, 60_000);
  const { command, args } = JSON.parse(readFileSync(path, "utf8")).mcpServers.keyhole;
  /** Starts exactly the program that the client's file names, and asks the server for its variables. */
  return async (env: Readonly<Record<string, string>>) => {
    const client = new Client({ name: "claude-code", version: "1" });
    const all = { ...programEnv(home), ...env };
    await client.connect(new StdioClientTransport({ command, args, cwd: home, env: all, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const result = await client.callTool({ name: "exec", arguments: { op: "chaos.environment" } });
    return (result.content as { text: string }[])[0]?.text ?? "";
  };
}

const DESKTOP = {
  DISPLAY: ":0",
  SSH_AUTH_SOCK: "/run/user/1000/agent",
  AWS_PROFILE: "work",
  KUBECONFIG: "/home/me/.kube/work",
  XDG_RUNTIME_DIR: "/run/user/1000",
  LC_ALL: "C.UTF-8",
};

verifies(
  "clients:environment",
  "a server gets the variables that its client gives its servers, and none of Keyhole's",
  async () => {
    const open = await setUp(`ENVIRONMENT_${process.pid}`);
    const seen = await open({ ...DESKTOP, KEYHOLE_TOKEN: "never-passed", KEYHOLE_MODEL: "x", SHLVL: "7" });
    for (const name of Object.keys(DESKTOP)) expect(seen).toContain(`"${name}"`);
    expect(seen).not.toMatch(/KEYHOLE_TOKEN|KEYHOLE_MODEL|SHLVL/);
  },
);

verifies(
  "clients:environment",
  "sessions that differ in their terminal, window or PATH use one process of a server",
  async () => {
    const word = `SESSIONS_${process.pid}`;
    const open = await setUp(word);
    for (const session of ["1", "2", "3"])
      await open({
        ...DESKTOP,
        TERM: `xterm-${session}`,
        TERM_SESSION_ID: session,
        WINDOWID: session,
        SHLVL: session,
        PWD: `/work/${session}`,
        TMUX_PANE: `%${session}`,
        XDG_SESSION_ID: session,
        CLAUDE_CODE_SESSION_ID: session,
        VSCODE_IPC_HOOK_CLI: session,
        npm_lifecycle_event: session,
        PATH: `${process.env.PATH}:/opt/${session}`,
      });
    expect(processesWith(`${word}=1`)).toHaveLength(1);
    await open({ ...DESKTOP, KUBECONFIG: "/home/me/.kube/other" });
    await open({ ...DESKTOP, CLAUDE_CODE_OAUTH_TOKEN: "another-person" });
    expect(processesWith(`${word}=1`)).toHaveLength(3);
  },
);
