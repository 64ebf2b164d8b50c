import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type ModelScript, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "./claims.ts";
import { CODING_TASKS, type CodingTask } from "./coding-tasks.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { openTerminal, tmuxMissing } from "./tmux.ts";

const PROGRAM = resolve("src/program/main.ts");
const commandOf = ({ name }: CodingTask) => `node ${name}/test.mjs`;

/** Runs each failing test, reads the code, edits it, and runs the test again. */
const work: ModelScript = ({ messages }) => {
  const steps = messages.filter(({ role }) => role === "assistant").length;
  const task = CODING_TASKS[Math.floor(steps / 4)];
  if (!task) return { text: "All ten tests pass." };
  const path = `${task.name}/code.mjs`;
  const shell = { name: "shell", args: { command: commandOf(task) } };
  const calls = [
    shell,
    { name: "read", args: { path } },
    { name: "edit", args: { path, ...task.edit } },
    shell,
  ];
  return { calls: [calls[steps % 4]!] };
};

verifies("agent:coding", "ten repositories with a failing test are repaired headless", async () => {
  const { folder, around, home, model } = await setUp({});
  const before = around();
  const child = spawn(
    process.execPath,
    [
      PROGRAM,
      "chat",
      "-p",
      "Repair all tests",
      "--allow-write",
      ...CODING_TASKS.flatMap((task) => ["--allow", `shell-run(${commandOf(task)})`]),
    ],
    { cwd: folder, env: { ...programEnv(home), NODE_NO_WARNINGS: "1" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  expect({ out, code }, err).toEqual({ out: "All ten tests pass.\n", code: 0 });
  expectRepaired(folder, model.requests.at(-1)!.messages);
  expect(around()).toEqual(before);
});

const missing = tmuxMissing();
if (missing) console.warn(`The coding tasks are not done in a terminal: ${missing}.`);

test.skipIf(missing !== undefined)(
  "the same ten are repaired in the terminal, with one key for each question",
  async () => {
    const { folder, around, home, model } = await setUp({});
    const before = around();
    const terminal = openTerminal([process.execPath, PROGRAM, "chat"], {
      folder,
      env: { HOME: home, XDG_CACHE_HOME: join(home, "cache") },
    });
    await terminal.sees("asks (⇧Tab)");
    terminal.type("Repair all tests");
    await terminal.sees("Repair all tests");
    terminal.press("Enter");
    const answered: string[] = [];
    let keys = 0;
    while (!terminal.screen().includes("All ten tests pass.")) {
      const screen = terminal.screen();
      const [question] = /│ (?:run command|write file): .*/.exec(screen) ?? [];
      if (question && !answered.includes(question) && screen.includes("or a digit")) {
        answered.push(question);
        keys += 1;
        // For the session: the test runs again after its repair.
        terminal.press("2");
      }
      await sleep(50);
    }
    console.info(`${CODING_TASKS.length} tasks, ${answered.length} questions, ${keys} keys.`);
    // One for each command, one for each edit.
    expect({ questions: answered.length, keys }).toEqual({ questions: 20, keys: 20 });
    expectRepaired(folder, model.requests.at(-1)!.messages);
    expect(around()).toEqual(before);
  },
);

async function setUp(more: object) {
  const model = await serveScriptedModel(work);
  onTestFinished(() => model.close());
  const parent = temporaryFolder();
  const home = temporaryFolder();
  const folder = join(parent, "project");
  for (const { name, code, test: checks } of CODING_TASKS) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "code.mjs"), code);
    writeFileSync(join(folder, name, "test.mjs"), checks);
  }
  writeFileSync(join(parent, "neighbour.txt"), "not of the project\n");
  mkdirSync(join(home, ".keyhole"));
  const local = { baseUrl: `${model.url}/v1`, model: "scripted" };
  const settings = { providers: { default: "local", local }, ...more };
  writeFileSync(join(home, ".keyhole/settings.json"), JSON.stringify(settings));
  /** Everything that the work must not change: files beside the project, and the tests in it. */
  const around = () =>
    readdirSync(parent, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "code.mjs")
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]);
  return { folder, home, model, around };
}

/** Each test failed at first and passes now, in the model's eyes and by itself. */
function expectRepaired(folder: string, messages: readonly { role: string; text: string }[]): void {
  const results = messages.filter(({ role }) => role === "tool").map(({ text: said }) => said);
  expect(results).toHaveLength(4 * CODING_TASKS.length);
  for (const [index, { name, code, edit }] of CODING_TASKS.entries()) {
    expect(results[4 * index], name).toContain("exit code 1");
    expect(results[4 * index + 3], name).toContain("no output");
    expect(readFileSync(join(folder, name, "code.mjs"), "utf8")).toBe(
      code.replace(edit.oldText, () => edit.newText),
    );
  }
  const all = CODING_TASKS.map((task) => commandOf(task)).join(" && ");
  expect(spawnSync("/bin/sh", ["-c", all], { cwd: folder, encoding: "utf8" }).stderr).toBe("");
}
