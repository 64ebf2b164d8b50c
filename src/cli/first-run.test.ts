import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { loadSettings } from "../config/load-settings.ts";
import { firstRun, isFirstRun } from "./first-run.ts";

test("the first run asks for provider, key and model, keeps them from others, and shows no key", async () => {
  const file = join(temporaryFolder(), ".keyhole", "settings.json");
  const { shown, answer } = open();
  const done = firstRun(file, answer.terminal);
  await answer.to("Provider: ", "anthropic");
  await answer.to("Key (not shown", "sk-ant-secret-value");
  await answer.to("Model (empty: claude-haiku-4-5): ", "1");
  expect(await done).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    providers: {
      default: "anthropic",
      anthropic: { apiKey: "sk-ant-secret-value", model: "claude-opus-5-5" },
    },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(shown()).not.toContain("sk-ant-secret-value");
  expect(shown()).toContain(`Saved in ${file}`);
});

test("an empty answer leaves and saves nothing", async () => {
  const file = join(temporaryFolder(), "settings.json");
  const { answer } = open();
  const done = firstRun(file, answer.terminal);
  await answer.to("Provider: ", "");
  expect(await done).toBe(false);
  expect(() => statSync(file)).toThrow();
});

test("a provider in a file, a variable or a key is no first run", async () => {
  const folder = temporaryFolder();
  const loaded = (env: Record<string, string>) => loadSettings({ project: folder, home: folder, env });
  expect(isFirstRun(await loaded({}), {})).toBe(true);
  const env = { ANTHROPIC_API_KEY: "sk-ant-x" };
  expect(isFirstRun(await loaded(env), env)).toBe(false);
  expect(isFirstRun(await loaded({}), { KEYHOLE_PROVIDER: "local" })).toBe(false);
});

function open() {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  const to = async (question: string, line: string) => {
    await expect.poll(() => text, { timeout: 20_000 }).toContain(question);
    input.write(`${line}\n`);
  };
  return { shown: () => text, answer: { to, terminal: { input, output } } };
}
