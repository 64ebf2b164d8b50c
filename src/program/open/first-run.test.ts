import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveModelLists } from "../../../test/model-list-server.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { firstRun, isFirstRun } from "./first-run.ts";
import { loadSettings } from "./load-settings.ts";
import { createSecrets } from "./secrets.ts";

const ref = (name: string) => `\${${name}}`;

test("the first run asks for provider, key and model, keeps the key among the secrets, and shows none", async () => {
  const { shown, answer, file, options, secrets } = open({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
  const done = firstRun(options);
  await answer("Provider: ", "openai");
  await answer("Key (not shown", "sk-very-secret-value");
  await answer("Model (empty: gpt-6.1-sol): ", "2");
  expect(await done).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    providers: { default: "openai", openai: { apiKey: ref("secret:openai"), model: "gpt-6.1-terra" } },
  });
  expect(secrets.get("openai")).toBe("sk-very-secret-value");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(shown()).not.toContain("sk-very-secret-value");
  expect(shown()).toContain("The list of models could not be read");
  expect(shown()).toContain(`Saved in ${file}`);
});

test("models come from the provider's list; a refused key and a misspelt model are asked again", async () => {
  const server = await serveModelLists(["our-own-model", "gpt-6-luna"]);
  const { shown, answer, file, options } = open({ OPENAI_BASE_URL: `${server.url}/v1` });
  const done = firstRun(options);
  await answer("Provider: ", "1");
  await answer("Key (not shown", "wrong");
  await answer("openai refuses this key.", "good");
  await answer("2  our-own-model", "our-own-modl");
  await answer("Did you mean our-own-model?", "2");
  expect(await done).toBe(true);
  expect(shown()).toContain("1  gpt-6-luna");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    providers: { openai: { model: "our-own-model" } },
  });
});

test("a word that is no provider is asked again, with what is possible", async () => {
  const { shown, answer, options } = open({});
  const done = firstRun(options);
  await answer("Provider: ", "opnai");
  await answer("opnai is no provider. Did you mean openai? Type a name or a number up to ", "99");
  await answer("99 is no provider. Type a name or a number up to ", "openai");
  await answer("Key (not shown", "");
  expect(await done).toBe(false);
  expect(shown().match(/Provider: /g)!.length).toBeGreaterThanOrEqual(3);
});

test("an empty answer leaves and saves nothing", async () => {
  const { answer, file, options } = open({});
  const done = firstRun(options);
  await answer("Provider: ", "");
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

function open(env: NodeJS.ProcessEnv) {
  const folder = temporaryFolder();
  const file = join(folder, ".keyhole", "settings.json");
  const secrets = createSecrets(join(folder, "secrets.db"));
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  const answer = async (question: string, line: string) => {
    await expect.poll(() => text, { timeout: 20_000 }).toContain(question);
    input.write(`${line}\n`);
  };
  return { shown: () => text, answer, file, secrets, options: { file, secrets, env, input, output } };
}
