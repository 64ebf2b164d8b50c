import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type ModelScript, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { EXIT_CODES } from "../src/agent/chat/print-events.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const PROGRAM = resolve("src/program/main.ts");

async function openProject(script: ModelScript) {
  const server = await serveScriptedModel(script);
  onTestFinished(() => server.close());
  const project = temporaryFolder();
  const env = {
    ...programEnv(temporaryFolder()),
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: `${server.url}/v1`,
    KEYHOLE_MAX_RETRIES: "0",
    KEYHOLE_MODE: "fixed",
  };
  async function run(...args: string[]) {
    const child = spawn(process.execPath, [PROGRAM, "chat", "-p", "go", ...args], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { code, stdout, stderr };
  }
  return { server, project, run };
}

const exec = (op: string, args: object) => ({ name: "exec", args: { op: `workspace.${op}`, args } });

test("rules of the command line allow for one run what they say, and nothing else", async () => {
  const { project, run } = await openProject((_, turn) =>
    turn % 2 === 1
      ? { text: "Done." }
      : {
          calls: [
            exec("shell", { command: "touch made" }),
            exec("shell", { command: "touch other" }),
            exec("write", { path: `src/a${turn}.txt`, text: "a" }),
            exec("write", { path: "b.txt", text: "b" }),
          ],
        },
  );
  const made = () =>
    ["made", "other", "src/a0.txt", "b.txt"].filter((path) => existsSync(join(project, path)));
  expect(await run("--allow", "shell-run(touch made)", "--allow", "fs-write(src/**)")).toMatchObject({
    code: 0,
    stdout: "Done.\n",
  });
  expect(made()).toEqual(["made", "src/a0.txt"]);
  // The rules are gone with the run.
  expect((await run()).code).toBe(0);
  expect(existsSync(join(project, "src/a2.txt"))).toBe(false);
});

test("--allow-write writes the folder's files, but runs no command and no build file", async () => {
  const { project, run } = await openProject((_, turn) =>
    turn > 0
      ? { text: "Done." }
      : {
          calls: [
            exec("write", { path: "notes/a.txt", text: "a" }),
            exec("write", { path: "package.json", text: "{}" }),
            exec("shell", { command: "touch made" }),
          ],
        },
  );
  expect((await run("--allow-write")).code).toBe(0);
  const made = ["notes/a.txt", "package.json", "made"].filter((path) => existsSync(join(project, path)));
  expect(made).toEqual(["notes/a.txt"]);
});

test("a misspelt provider or rule is refused, and no prompt goes anywhere", async () => {
  const { server, run } = await openProject(() => ({ text: "Done." }));
  const wrong = await run("--provider", "anthropc");
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("Provider anthropc not found. Did you mean anthropic?");
  const rule = await run("--allow", "shell(npm test)");
  expect(rule.code).toBe(2);
  expect(rule.stderr).toContain('"shell(npm test)" is not written as scope(pattern)');
  expect(server.requests).toEqual([]);
});

test("the documentation has the exit code of every ending", () => {
  const lines = readFileSync("docs/agent.md", "utf8").split("\n");
  for (const [outcome, code] of Object.entries(EXIT_CODES)) {
    expect(
      lines.some((line) => line.startsWith(`| ${code} |`) && line.includes(`\`${outcome}\``)),
      outcome,
    ).toBe(true);
  }
});
