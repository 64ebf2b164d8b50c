import { expect, test } from "vitest";
import { schemaText } from "./schema-text.ts";

test("gives property names, descriptions and choices, also nested", () => {
  const text = schemaText({
    description: "not a parameter",
    properties: {
      unit: { enum: ["celsius", "kelvin", 3], description: "Of temperature" },
      place: { anyOf: [{ properties: { city: {} } }, { items: { description: "A point" } }] },
    },
  });
  expect(text.split("\n")).toEqual([
    "unit",
    "Of temperature",
    "celsius",
    "kelvin",
    "place",
    "city",
    "A point",
  ]);
});

test("takes what is no schema, and bounds what has no end", () => {
  expect(schemaText({ properties: "x", items: 3, enum: "no", anyOf: null })).toBe("");
  const endless: Record<string, unknown> = {};
  endless.properties = { again: endless, constructor: { description: "d".repeat(100_000) } };
  expect(schemaText(endless).length).toBeLessThan(20_000);
});
