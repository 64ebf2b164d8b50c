import { percentile } from "../percentile.ts";
import { ARMS } from "./arms.ts";
import type { EvalRun } from "./evaluate.ts";

const FIGURES = ["turns", "input", "cached", "output"] as const;

/** A table with a line for each arm: tasks done, and the median of each figure with its quartiles. */
export function toReport(runs: readonly EvalRun[]): string {
  const head = ["arm", "done", ...FIGURES, "input of all runs"];
  const lines = ARMS.flatMap((arm) => {
    const own = runs.filter((run) => run.arm === arm);
    if (own.length === 0) return [];
    const done = own.filter(({ wrong }) => wrong === undefined).length;
    const all = own.reduce((sum, { input }) => sum + input, 0);
    return [
      [
        arm,
        `${done} of ${own.length}`,
        ...FIGURES.map((figure) => spread(own.map((run) => run[figure]))),
        number(all),
      ],
    ];
  });
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** `1,200 (900–1,500)`: the median, and the range of the middle half. */
function spread(values: readonly number[]): string {
  const [low, middle, high] = [25, 50, 75].map((percent) => number(percentile(values, percent)));
  return low === high ? middle! : `${middle} (${low}–${high})`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}
