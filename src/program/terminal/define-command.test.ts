import { expect, test } from "vitest";
import { defineCommand, readCommandLine } from "./define-command.ts";

const definition = {
  name: "plant",
  words: { "": "[GARDEN]", tree: "NAME [PLACE]" },
  about: "Plants what you name.",
  options: {
    depth: { takes: "CM", most: 90, default: 10, help: "how deep" },
    soil: { takes: "KIND", choices: ["clay", "sand"], short: "s" },
    "water-first": {},
    near: { takes: "NAME", repeats: true },
  },
  notes: "Exits with 1 if the ground is frozen.",
  run: async () => {},
} as const;
const plant = defineCommand(definition);

test("words and options are read by their definition, under names in camel case", () => {
  expect(
    readCommandLine(definition, ["tree", "oak", "-s", "clay", "--near", "a", "--near=b", "--water-first"]),
  ).toMatchObject({
    action: "tree",
    words: ["oak"],
    depth: 10,
    soil: "clay",
    waterFirst: true,
    near: ["a", "b"],
  });
  expect(readCommandLine(definition, ["tree", "--help"])).toBeUndefined();
});

test.each([
  [["tree"], "NAME is missing: the usage is keyhole plant tree NAME [PLACE]"],
  [["tree", "a", "b", "c"], "too many arguments"],
  [["--depth", "91"], "--depth must be a whole number up to 90"],
  [["--soil", "rock"], "--soil must be one of clay, sand"],
  [["--sol", "clay"], "--sol is not an option (did you mean --soil?)"],
])("%j is refused with a sentence that says why", (args, reason) => {
  expect(() => readCommandLine(definition, args)).toThrow(reason);
});

test("the help and the completion say everything that the definition says", async () => {
  expect(plant.usage()).toBe(`Usage: keyhole plant [GARDEN] [options]
       keyhole plant tree NAME [PLACE]

Plants what you name.

  --depth CM       how deep (default: 10)
  -s, --soil KIND  clay, sand
  --water-first
  --near NAME      may be repeated
  -h, --help       show this help

Exits with 1 if the ground is frozen.`);
  expect(plant.completions()).toEqual(["tree", "--depth", "--soil", "--water-first", "--near", "--help"]);
});
