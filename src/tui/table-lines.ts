import { cellsOf, wrapHard } from "./wrap-hard.ts";

const GAP = "  ";
/** Narrower columns are unreadable; the table becomes a list then. */
const LEAST = 6;

/** A table as aligned lines that fit the window, the head first; in a narrow window one line for each cell. */
export function tableLines(rows: readonly (readonly string[])[], columns: number): string[] {
  const [head = [], ...body] = rows;
  const count = Math.max(1, ...rows.map((row) => row.length));
  const cells = (row: readonly string[]) => Array.from({ length: count }, (_, at) => row[at] ?? "");
  const wanted = cells([]).map((_, at) => Math.max(1, ...rows.map((row) => cellsOf(row[at] ?? ""))));
  const widths = narrow(wanted, columns - GAP.length * (count - 1));
  if (widths.some((width, at) => width < Math.min(LEAST, wanted[at]!))) {
    return body.flatMap((row) => cells(row).map((cell, at) => `${head[at] ?? ""}: ${cell}`));
  }
  const toLines = (row: readonly string[]) => {
    const wrapped = cells(row).map((cell, at) => wrapHard(cell, widths[at]!));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      wrapped
        .map((lines, at) => pad(lines[line] ?? "", widths[at]!))
        .join(GAP)
        .trimEnd(),
    );
  };
  return [...toLines(head), widths.map((width) => "─".repeat(width)).join(GAP), ...body.flatMap(toLines)];
}

/** Takes room from the widest columns until all fit. */
function narrow(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 1) break;
    widths[widest] = widths[widest]! - 1;
    over -= 1;
  }
  return widths;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cellsOf(text)));
}
