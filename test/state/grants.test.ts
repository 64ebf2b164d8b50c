import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAgentTokens } from "../../src/program/open/agent-tokens.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { CHANGES, consentsIn, grantsIn, KEY_EVERY, programOf } from "./grant-process.ts";

const PROCESS = join(import.meta.dirname, "grant-process.ts");

function start(task: string, path: string, name = "", options: ForkOptions = {}): ChildProcess {
  return fork(PROCESS, [task, path, name], { execArgv: ["--no-warnings"], ...options });
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const [{ done }] = await once(child, "message");
  return done;
}

test("T9: two processes that approve and revoke at once lose nothing, and nothing revoked comes back", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const old = ["a", "b"].flatMap((name) =>
    Array.from({ length: CHANGES }, (_, number) => `${name} ${number}`),
  );
  await consentsIn(path).give(old.map((each) => programOf(`old ${each}`)));
  const agents = grantsIn(path, "agent");
  let heard = 0;
  const leave = agents.watch(async () => {
    heard += 1;
  });

  const writers = ["a", "b"].map((name) => start("write", path, name));
  const [first, second] = (await Promise.all(writers.map(answerOf))) as [string[], string[]];

  const programs = [...grantsIn(path, "program").entries().keys()];
  expect(programs.filter((key) => key.startsWith("old"))).toEqual([]);
  expect(programs.sort()).toEqual(old.map((each) => `new ${each}`).sort());
  // Each key has the rights that its one maker chose.
  expect(new Set([...first, ...second]).size).toBe(CHANGES / KEY_EVERY);
  const tokens = await createAgentTokens(grantsIn(path, "agent")).list();
  expect(tokens.map(({ name }) => name).sort()).toEqual([...first, ...second].sort());
  for (const { name, scopes } of tokens) expect(scopes).toEqual([first.includes(name) ? "a" : "b"]);
  // A process that runs meanwhile has noticed.
  await expect.poll(() => agents.entries().size, { timeout: 5_000 }).toBe(CHANGES / KEY_EVERY);
  expect(heard).toBeGreaterThan(0);
  leave();
  expect(readdirSync(dirname(path))).toEqual(["approvals.db"]);
});

test("T9: a lack of free files is no damage: it is told, and a change is tried again", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  await consentsIn(path).give([programOf("given")]);
  // A file that was just changed is opened at every look.
  await setTimeout(200);
  const options = { execPath: "sh", execArgv: ["-c", 'ulimit -n 64; exec "$0" "$@"', process.execPath] };
  expect(await answerOf(start("exhaust", path, "", options))).toEqual({
    // A file that has not changed since it was read need not be opened.
    asked: [true, "STATE_UNREADABLE"],
    refused: "STATE_UNREADABLE",
    damage: null,
    now: [true, false, true],
  });
  expect(readdirSync(dirname(path))).toEqual(["approvals.db"]);
});

test("T9: a file that its reader may not read approves nothing and stays where it is", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "approvals.db");
  await consentsIn(path).give([programOf("given")]);
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, isRoot ? 0o755 : 0o700);
  const other = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  if (!isRoot) chmodSync(folder, 0o000);
  const answer = await answerOf(start("forbidden", path, "", other));
  chmodSync(folder, 0o700);
  expect(answer).toEqual({
    entries: 0,
    given: "STATE_UNREADABLE",
    damage: expect.stringMatching(/approvals\.db cannot be used now.*nothing in it counts/),
  });
  expect(readdirSync(folder)).toEqual(["approvals.db"]);
  expect(consentsIn(path).isGiven(programOf("given"))).toBe(true);
});
