import { join } from "node:path";
import { expect, test } from "vitest";
import { plant } from "../../../test/chat-kit.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { loadSettings } from "./load-settings.ts";
import { fillSecrets } from "./open-config.ts";

const ref = (name: string) => `\${${name}}`;

async function loaded(providers: object) {
  const home = temporaryFolder();
  plant(home, { ".keyhole/settings.json": JSON.stringify({ providers }) });
  return loadSettings({ home, project: join(home, "project"), env: {} });
}

test("the keys of providers are filled in from keychain, secrets and variables, and nothing else is", async () => {
  const given = await loaded({
    default: "anthropic",
    anthropic: { apiKey: ref("keychain:anthropic"), model: ref("HOME") },
    openai: { apiKey: ref("OPENAI") },
    gemini: { apiKey: "plain" },
  });
  const variables = { "secret:anthropic": "from-keychain", OPENAI: "from-variable", HOME: "/home/me" };
  const { settings, problems } = fillSecrets(given, () => variables);
  expect(problems).toEqual([]);
  expect(settings.providers).toEqual({
    default: "anthropic",
    anthropic: { apiKey: "from-keychain", model: ref("HOME") },
    openai: { apiKey: "from-variable" },
    gemini: { apiKey: "plain" },
  });
});

test("a key that cannot be filled in is missing, and the problem says how to set it", async () => {
  const given = await loaded({ openai: { apiKey: ref("secret:openai") } });
  const { settings, problems } = fillSecrets(given, () => ({}));
  expect(settings.providers.openai).toEqual({});
  expect(problems.map(({ message }) => message)).toEqual([
    "The provider openai is not configured: the secret openai is not set; keyhole secrets set openai sets it.",
  ]);
});

test("settings without references ask nobody", async () => {
  const given = await loaded({ openai: { apiKey: "plain" } });
  const variables = () => {
    throw new Error("asked");
  };
  expect(fillSecrets(given, variables)).toBe(given);
});
