import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeStreams } from "../../../test/fake-terminal.ts";
import { serveModelLists } from "../../../test/model-list-server.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createDialogue } from "../../agent/tui/dialogue.ts";
import { firstRun, isFirstRun } from "./first-run.ts";
import { loadSettings } from "./load-settings.ts";
import { createSecrets } from "./secrets.ts";

const ref = (name: string) => `\${${name}}`;

const [DOWN, ENTER, ESCAPE, ERASE] = ["\u001b[B", "\r", "\u001b", "\u007f"];

test("arrows choose provider and model, and the key goes to the secrets and on no screen", async () => {
  const { text, answers, file, options, secrets } = open({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
  const done = firstRun(options);
  await answers("› openai", ENTER);
  await answers("Key of openai:", "sk-very-secret-value");
  await answers("› ••••••••••••••••••••", ENTER);
  await answers("› openai gpt-6.1-sol", DOWN);
  await answers("› openai gpt-6.1-terra", ENTER);
  expect(await done).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    providers: { default: "openai", openai: { apiKey: ref("secret:openai"), model: "gpt-6.1-terra" } },
  });
  expect(secrets.get("openai")).toBe("sk-very-secret-value");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(text()).not.toContain("sk-very-secret-value");
  expect(text()).toContain("The list of models could not be read");
  expect(text()).toContain(`Saved in ${file}`);
});

test("models come from the provider's list; wrong words, keys and names are asked again", async () => {
  const server = await serveModelLists(["our-own-model", "gpt-6-luna"]);
  const { answers, type, file, options } = open({ OPENAI_BASE_URL: `${server.url}/v1` });
  const done = firstRun(options);
  await answers("› openai", "opnai");
  await answers("nothing fits", ENTER);
  for (const _ of "opnai") await type(ERASE);
  await answers("› openai", ENTER);
  await answers("Key of openai:", "wrong");
  await answers("•••••", ENTER);
  await answers("openai refuses this key.", "good");
  await answers("› ••••", ENTER);
  await answers("› openai gpt-6-luna", DOWN);
  await answers("› openai our-own-model", DOWN);
  await answers("› another model", ENTER);
  await answers("Model of openai:", "our-own-modl");
  await answers("› our-own-modl", ENTER);
  await answers("Did you mean our-own-model?", "our-own-model");
  await answers("› our-own-model", ENTER);
  expect(await done).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    providers: { openai: { model: "our-own-model" } },
  });
});

test("Esc leaves and saves nothing", async () => {
  const { answers, file, options } = open({});
  const done = firstRun(options);
  await answers("› openai", ENTER);
  await answers("Key of openai:", ESCAPE);
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
  const { stdin, stdout, text, type } = fakeStreams();
  const dialogue = createDialogue({ stdin, stdout });
  let answered = 0;
  /** Types once the screen shows the text, below what it showed before. */
  const answers = async (shown: string, keys: string) => {
    await expect.poll(() => text().slice(answered), { timeout: 20_000 }).toContain(shown);
    answered = text().length;
    await type(keys);
  };
  return { text, answers, type, file, secrets, options: { dialogue, file, secrets, env } };
}
