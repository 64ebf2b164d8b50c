// Measures how many poisoned definitions are found, and how many definitions of real catalogues are flagged.
import { join } from "node:path";
import { findInjection } from "../src/base/safety/detect-injection.ts";
import { CLEAN } from "../test/poison/clean.ts";
import { POISONED_HELD_OUT } from "../test/poison/poisoned-held-out.ts";
import { POISONED_TUNING } from "../test/poison/poisoned-tuning.ts";
import { toTool } from "../test/poison/tool-definition.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { listSets, readJsonLines, type SetTool } from "./tool-sets.ts";

export const benchmark: Benchmark = async ({ data }) => {
  const written = [
    measure("poisoned, tuned on", "recall", POISONED_TUNING.map(toTool)),
    measure("poisoned, held out", "recall", POISONED_HELD_OUT.map(toTool)),
    measure("clean, hand-written", "false_positives", CLEAN.map(toTool)),
  ];
  const sets = data === undefined ? [] : listSets(data);
  return [
    ...written,
    ...sets.map((set) => {
      const tools = readJsonLines<SetTool>(join(data!, set, "tools.jsonl"));
      const definitions = tools.map(({ name, description, input_schema }) => ({
        name,
        description,
        input_schema,
      }));
      return measure(set, "false_positives", definitions);
    }),
  ].flat();
};

function measure(name: string, metric: string, definitions: readonly object[]): Row[] {
  const started = performance.now();
  const found = definitions.filter((definition) => findInjection(definition).length > 0).length;
  const micros = ((performance.now() - started) * 1_000) / definitions.length;
  const row = { bench: "poison", case: name, system: "keyhole" };
  return [
    { ...row, metric: "definitions", value: definitions.length, unit: "count" },
    { ...row, metric, value: found / definitions.length, unit: "share" },
    { ...row, metric: "time", value: micros, unit: "µs each" },
  ];
}
