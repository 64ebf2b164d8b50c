import type { ContextReport } from "./chat-agent.ts";

const SIGNS = ["█", "▓", "▒", "░", "▚", "▞", "◼", "▪", "◆", "●", "▲"];
const WIDEST = 60;

/** A context report as lines: a bar, its legend, and the cost of listing every tool. */
export function contextLines(report: ContextReport, columns: number): string[] {
  const { total, window, assumed, everything } = report;
  const parts = report.parts.filter(({ tokens }) => tokens > 0);
  const width = Math.max(8, Math.min(WIDEST, columns - 2));
  const shown = parts
    .filter(({ name }) => name.endsWith("tools"))
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const listed = everything - shown;
  return [
    toBar(parts, total, width),
    ...parts.map(
      ({ name, tokens }, index) =>
        `${signOf(index)} ${name.padEnd(12)} ${count(tokens).padStart(9)} ${share(tokens, total)}`,
    ),
    `  ${"total".padEnd(12)} ${count(total).padStart(9)} tokens in the next request, without its prompt`,
    `  ${"window".padEnd(12)} ${count(window).padStart(9)} tokens${assumed ? " (assumed: set agent.contextWindow)" : ""}`,
    listed > 0
      ? `Listing every tool would cost ${count(listed)} tokens more with each request.`
      : "Listing every tool would cost no more.",
  ];
}

/** Every part that is not empty gets at least one sign; rounding never makes the bar longer. */
function toBar(parts: ContextReport["parts"], total: number, width: number): string {
  if (total === 0) return "·".repeat(width);
  const cells = parts.map(({ tokens }) => Math.max(1, Math.floor((tokens / total) * width)));
  const largest = cells.indexOf(Math.max(...cells));
  cells[largest] = Math.max(1, cells[largest]! + width - cells.reduce((sum, each) => sum + each, 0));
  return cells.map((length, index) => signOf(index).repeat(length)).join("");
}

function signOf(index: number): string {
  return SIGNS[index % SIGNS.length]!;
}

function share(tokens: number, total: number): string {
  return total === 0 ? "" : `${Math.round((tokens / total) * 100)} %`.padStart(5);
}

/** A number with commas. */
export function count(number: number): string {
  return Math.round(number).toLocaleString("en-US");
}

/** A result on one line: its first line, and the number of lines. */
export function foldResult(text: string): string {
  const lines = text.trim().split("\n");
  const first = lines[0]!.replaceAll("\t", " ") || "nothing";
  return lines.length === 1 ? first : `(${lines.length} lines) ${first}`;
}

const SHOWN_LINES = 4;

/** The first lines of a result, and how many more there are. */
export function foldLines(text: string, tool = "", failed = false): string[] {
  const lines = text.trim().split("\n").map(flat);
  if (tool === "todo") return lines;
  if (lines.length === 1) return [lines[0] || "nothing"];
  if (lines.length <= SHOWN_LINES) return lines;
  const hidden = `${lines.length - SHOWN_LINES + 1} more lines, Ctrl-O shows all`;
  // The end of a failure says why, and a command ends with its result.
  if (failed && tool === "shell") return [lines[0]!, `… ${hidden}`, ...lines.slice(2 - SHOWN_LINES)];
  if (failed || tool === "shell") return [`… ${hidden}`, ...lines.slice(1 - SHOWN_LINES)];
  return [...lines.slice(0, SHOWN_LINES - 1), `… ${hidden}`];
}

/** The last lines of a text that still grows. */
export function lastLines(text: string): string[] {
  return text.trim().split("\n").slice(-SHOWN_LINES).map(flat);
}

/** The model's finished thinking on one line. */
export function thinkingLine(text: string): string {
  const [first, ...others] = text.trim().split("\n");
  return others.length === 0 ? `∴ ${first}` : `∴ ${first} (${others.length + 1} lines, Ctrl-T shows them)`;
}

function flat(line: string): string {
  return line.replaceAll("\t", "  ");
}

export function toDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
