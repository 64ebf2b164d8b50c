import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { settingsPath } from "./config-files.ts";
import { loadSettings } from "./load-settings.ts";
import { shownSettings } from "./open-http.ts";

test("settings are shown with the place that they come from, and never with secrets", async () => {
  const [home, project] = [temporaryFolder(), temporaryFolder()];
  const file = settingsPath(home);
  mkdirSync(join(file, ".."), { recursive: true });
  const secret = "sk-proj-a-secret-of-forty-characters-0123456789";
  const headers = { authorization: `Bearer ${secret}` };
  const mcpServers = { web: { url: `https://example.com/mcp?key=${secret}`, headers } };
  const providers = { openai: { apiKey: secret, model: "gpt-9" } };
  writeFileSync(file, JSON.stringify({ providers, mcpServers, agent: { maxSteps: 7 } }));
  const shown = shownSettings(await loadSettings({ home, project, env: {} }));
  const rowOf = (name: string) => shown.find((row) => row.name === name);
  expect(rowOf("agent.maxSteps")).toEqual({ name: "agent.maxSteps", value: 7, from: file });
  expect(rowOf("audit.enabled")).toEqual({ name: "audit.enabled", value: true, from: "default" });
  expect(rowOf("providers.openai.apiKey")?.value).toBe("(set)");
  expect(rowOf("mcpServers.web.headers")?.value).toEqual(["authorization"]);
  expect(JSON.stringify(shown)).not.toContain(secret);
});
