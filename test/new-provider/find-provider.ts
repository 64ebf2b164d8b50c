// Prints where the provider named acme is found.
import { z } from "zod";
import { providersTable, providerVariablesTable } from "../../scripts/provider-tables.ts";
import { telemetryName, withModel } from "../../src/agent/chat/model-lists.ts";
import { createLLMClient } from "../../src/agent/models/llm-client.ts";
import { providersConfigSchema } from "../../src/agent/models/models-config.ts";
import { getSupportedProviders } from "../../src/agent/models/providers/providers.ts";
import { loadSettings } from "../../src/program/open/load-settings.ts";
import { secretsOf, settingsFileSchema } from "../../src/program/open/settings-schema.ts";

const [home = ""] = process.argv.slice(2);
const variables = { ACME_OLD_KEY: "old-key", ACME_KEY: "key-of-acme" };
const client = createLLMClient({ config: { providers: { default: "acme" } }, host: { env: variables } });
const env = { ...variables, KEYHOLE_PROVIDER: "acme", KEYHOLE_MODEL: "big-brain" };
const { settings, problems } = await loadSettings({ home, project: home, env });
const accepts = (providers: object) => providersConfigSchema.safeParse(providers).success;
const answer = await client.invoke("Hi");

console.log(
  JSON.stringify({
    listed: getSupportedProviders().includes("acme" as never),
    config: [accepts({ default: "acme", acme: { brain: "big" } }), accepts({ acme: { brian: "big" } })],
    defaultModel: client.getModelName(),
    made: (await client.languageModel()).message,
    answer: answer.success && answer.result.content,
    problems,
    settings: settings.providers,
    otherModel: withModel(settings.providers, "other"),
    secrets: secretsOf(settings),
    telemetry: telemetryName("acme"),
    schema: JSON.stringify(z.toJSONSchema(settingsFileSchema)).includes('"brain"'),
    docs: [providersTable(), providerVariablesTable()].map((table) => table.includes("acme")),
  }),
);
