import { expect, test } from "vitest";
import { z } from "zod";
import { DEFAULT_SETTINGS, settingsFileSchema } from "../src/config/settings-schema.ts";
import { providersConfigSchema, retryConfigSchema } from "../src/models/config.ts";

interface Shape {
  readonly properties: Readonly<Record<string, Partial<Shape>>>;
}

function keysOf({ properties = {} }: Partial<Shape>): object {
  return Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, keysOf(part)]));
}

test("the settings have the fields that the providers take", () => {
  const settings = keysOf(z.toJSONSchema(settingsFileSchema, { io: "input" }) as unknown as Shape);
  const providers = keysOf(z.toJSONSchema(providersConfigSchema, { io: "input" }) as unknown as Shape);
  expect(settings).toMatchObject({ providers });
  expect((settings as { providers: object }).providers).toEqual(providers);
  expect(DEFAULT_SETTINGS.retry).toEqual(retryConfigSchema.parse({}));
});
