import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conversationRows } from "../bench/conversations.ts";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";

const LEAST = { "type-A": 0.95, "type-B": 0.9, "type-C": 0.84 };
const SYSTEMS: Readonly<Record<string, string>> = {
  "`discover`": "discover",
  "`fixed`": "fixed",
  "`fixed`, `trim: false`": "fixed-whole",
};
const METRICS = ["request_saved", "ten_turns_saved", "ten_turns_cached_saved"];

const rows = await conversationRows(await loadTokenCounter());

function figure(system: string, type: string, metric: string): number {
  return rows.find((row) => row.case === type && row.system === system && row.metric === metric)!.value;
}

test("discovery saves tokens against listing everything, for one request and for ten turns", () => {
  for (const [type, least] of Object.entries(LEAST)) {
    for (const metric of ["request_saved", "ten_turns_saved"]) {
      expect(figure("discover", type, metric), `${type} ${metric}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test("the documentation states the measured figures", () => {
  const table = readFileSync("docs/ai-sdk.md", "utf8").matchAll(/^\| (`.*`) \| ([ABC]) \| (.*) \|$/gm);
  const told = [...table];
  expect(told).toHaveLength(9);
  for (const [, system = "", type, figures = ""] of told) {
    figures.split(" | ").forEach((text, at) => {
      const measured = figure(SYSTEMS[system]!, `type-${type}`, METRICS[at]!) * 100;
      // Ids in results differ between runs and change the token count of whole conversations.
      expect(Math.abs(Number.parseFloat(text) - measured), `${system} ${type} ${METRICS[at]}`).toBeLessThan(
        0.5,
      );
    });
  }
});
