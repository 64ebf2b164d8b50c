import type { ContextReport } from "./context-report.ts";

const PARTS = [
  { name: "menu", sign: "█" },
  { name: "discovery", sign: "▓" },
  { name: "results", sign: "▒" },
  { name: "history", sign: "░" },
] as const;

const WIDEST = 60;

/** A context report as lines: a bar, its legend, and the cost of listing every tool. */
export function contextLines(report: ContextReport, columns: number): string[] {
  const total = PARTS.reduce((sum, { name }) => sum + report[name], 0);
  const width = Math.max(8, Math.min(WIDEST, columns - 2));
  const listed = report.everything - report.menu;
  return [
    toBar(report, total, width),
    ...PARTS.map(
      ({ name, sign }) =>
        `${sign} ${name.padEnd(10)} ${count(report[name]).padStart(9)} ${share(report[name], total)}`,
    ),
    `  ${"total".padEnd(10)} ${count(total).padStart(9)} tokens`,
    `  every tool ${count(report.everything).padStart(9)} tokens`,
    listed > 0
      ? `Listing every tool would cost ${count(listed)} tokens more with each request.`
      : "Listing every tool would cost no more.",
  ];
}

/** Every part that is not empty gets at least one sign; rounding never makes the bar longer. */
function toBar(report: ContextReport, total: number, width: number): string {
  if (total === 0) return "·".repeat(width);
  const cells = PARTS.map(({ name }) =>
    report[name] === 0 ? 0 : Math.max(1, Math.floor((report[name] / total) * width)),
  );
  const largest = cells.indexOf(Math.max(...cells));
  cells[largest] = cells[largest]! + width - cells.reduce((sum, each) => sum + each, 0);
  return PARTS.map(({ sign }, index) => sign.repeat(cells[index]!)).join("");
}

function share(tokens: number, total: number): string {
  return total === 0 ? "" : `${Math.round((tokens / total) * 100)} %`.padStart(5);
}

function count(tokens: number): string {
  return Math.round(tokens).toLocaleString("en-US");
}
