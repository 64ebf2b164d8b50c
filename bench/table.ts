import type { Row } from "./benchmark.ts";

/** Formats rows as a table: a line for each case and system, a column for each metric. */
export function toTable(rows: readonly Row[]): string {
  const metrics = [...new Set(rows.map((row) => `${row.metric} (${row.unit})`))];
  const lines = [...Map.groupBy(rows, (row) => `${row.case}\t${row.system}`)].map(([key, group]) => {
    const values = new Map(group.map((row) => [`${row.metric} (${row.unit})`, row.value]));
    return [...key.split("\t"), ...metrics.map((metric) => format(values.get(metric)))];
  });
  const table = [["case", "system", ...metrics], ...lines];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
  return table
    .map((line) => line.map((cell, column) => pad(cell, widths[column]!, column)).join("  "))
    .join("\n");
}

function pad(cell: string, width: number, column: number): string {
  return column < 2 ? cell.padEnd(width) : cell.padStart(width);
}

function format(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "n/a";
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(4);
}
