import { expect, test } from "vitest";
import { serveModelLists } from "../../../test/model-list-server.ts";
import type { ProviderSettings } from "../models/models-config.ts";
import { createModelLists } from "./model-lists.ts";

async function open(names: readonly string[], key = "good") {
  const server = await serveModelLists(names);
  const providers = {
    default: "local",
    local: { baseUrl: `${server.url}/v1`, apiKey: key, model: "first:latest" },
  } as ProviderSettings;
  const lists = createModelLists({
    providers: () => providers,
    model: () => "first:latest",
    modelName: () => "local first:latest",
  });
  return { lists, server };
}

test("the picker has the model in use and those of the provider's list, which is read once", async () => {
  const { lists, server } = await open(["first:latest", "second"]);
  expect((await lists.choices()).map(({ id, text }) => [id, text])).toEqual([
    ["local/first:latest", "in use"],
    ["local/second", ""],
  ]);
  await lists.choices();
  expect(server.requests).toHaveLength(1);
});

test("a misspelt model is refused with the nearest; one without its tag is fine", async () => {
  const { lists } = await open(["first:latest", "second"]);
  await expect(lists.check("secnd")).rejects.toMatchObject({
    code: "MODEL_NOT_FOUND",
    message: "local: it has no model secnd. Did you mean second?",
  });
  await lists.check("second");
  await lists.check("first");
  await expect(lists.check("anthropc/second")).rejects.toMatchObject({ code: "PROVIDER_NOT_SUPPORTED" });
});

test("without a list, any name is tried", async () => {
  const { lists, server } = await open(["first:latest"], "wrong");
  await lists.check("anything");
  expect(await lists.choices()).toHaveLength(1);
  // A list that could not be read is asked for again.
  expect(server.requests).toHaveLength(2);
});
