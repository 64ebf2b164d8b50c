import { expect, test } from "vitest";
import { serveModelLists } from "../../../test/model-list-server.ts";
import { systemClock } from "../../base/util/clock.ts";
import { createModel, listModels } from "./create-model.ts";
import { createHost } from "./providers/define-provider.ts";

const HOST = { env: {}, clock: systemClock };
const NAMES = ["alpha-1", "alpha-2", "text-embedding-3"];

test.each([
  ["openai", "baseUrl", "/v1", "/v1/models", ["alpha-1", "alpha-2"]],
  ["anthropic", "baseUrl", "/v1", "/v1/models?limit=1000", NAMES],
  ["gemini", "baseUrl", "/v1beta", "/v1beta/models?pageSize=1000", NAMES],
  ["local", "baseUrl", "/v1/", "/v1/models", NAMES],
  ["github", "endpoint", "/inference", "/catalog/models", NAMES],
])("%s tells its models", async (name, field, base, path, names) => {
  const server = await serveModelLists(NAMES);
  const key = name === "github" ? "token" : "apiKey";
  const listed = await listModels(name, { [field]: `${server.url}${base}`, [key]: "good" }, HOST);
  expect(listed).toMatchObject({ success: true, result: names });
  expect(server.requests.map((request) => request.path)).toEqual([path]);
});

test("a refused key, a list that is none and a provider without a list are failures, never exceptions", async () => {
  const server = await serveModelLists(NAMES);
  const refused = await listModels("openai", { baseUrl: server.url, apiKey: "sk-wrong-key" }, HOST);
  expect(refused).toMatchObject({ success: false, error: "AUTHENTICATION_ERROR" });
  expect(refused.message).not.toContain("sk-wrong-key");
  expect(await listModels("azure", { apiKey: "good" }, HOST)).toMatchObject({ success: false });
  expect(await listModels("anthropic", {}, HOST)).toMatchObject({ success: false });
  expect(await listModels("nobody", {}, HOST)).toMatchObject({ success: false });
  const away = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "good" };
  expect(await listModels("openai", away, HOST)).toMatchObject({ success: false, error: "NETWORK_ERROR" });
});

test("an address of the network is reached only if the owner configured it", async () => {
  const listed = await listModels("openai", { apiKey: "good", baseUrl: "http://169.254.169.254/v1" }, HOST);
  expect(listed.success).toBe(false);
});

test("a wrong key of a config is told in a whole sentence", async () => {
  const wrong = createModel("openai", { apiKey: "good", aipKey: "x" }, createHost());
  await expect(wrong).rejects.toThrow(/is not configured: Unrecognized key/);
});
