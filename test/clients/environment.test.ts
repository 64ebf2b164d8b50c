import { resolve } from "node:path";
import { expect } from "vitest";
import { verifies } from "../claims.ts";
import { processesWith } from "../upstream-kit.ts";
import { connectPerson, npmServer } from "./connected-person.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A person whose Claude Code passes its whole environment on to servers, as it does. */
async function setUp(word: string) {
  const person = await connectPerson({
    chaos: { command: process.execPath, args: [CHAOS], env: { [word]: "1" } },
  });
  return async (env: Readonly<Record<string, string>>) => {
    const call = await (await person.start({ env })).connect();
    return call("exec", { op: "chaos.environment" });
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

verifies("clients:environment", "npm's server prints the variables of the client that calls", async () => {
  const person = await connectPerson({ every: npmServer("server-everything") });
  const call = await (await person.start({ env: { ...DESKTOP, KEYHOLE_TOKEN: "never-passed" } })).connect();
  const printed = await call("exec", { op: "every.get-env" });
  for (const [name, value] of Object.entries(DESKTOP)) expect(printed).toContain(`"${name}":"${value}"`);
  expect(printed).not.toMatch(/KEYHOLE_TOKEN|never-passed/);
});
