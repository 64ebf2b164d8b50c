import type { Frame } from "../record-terminal.ts";
import type { Cell } from "./parse-ansi.ts";

export interface SvgOptions {
  readonly columns: number;
  readonly rows: number;
  /** Says what the picture shows, for people who do not see it. */
  readonly title: string;
}

const [WIDTH, HEIGHT, SIZE, PAD, BAR] = [8.4, 19, 14, 14, 34];
const INK = "#e6edf3";
const PAPER = "#0d1117";
const PALETTE = [
  "#484f58",
  "#ff7b72",
  "#3fb950",
  "#d29922",
  "#58a6ff",
  "#bc8cff",
  "#39c5cf",
  "#b1bac4",
  "#6e7681",
  "#ffa198",
  "#56d364",
  "#e3b341",
  "#79c0ff",
  "#d2a8ff",
  "#56d4dd",
  "#f0f6fc",
] as const;

/**
 * Draws frames as an animated SVG without scripts, so that it moves wherever an image is shown. Lines that frames
 * share are drawn once. For people who want less motion it shows the last frame.
 */
export function toSvg(frames: readonly Frame[], { columns, rows, title }: SvgOptions): string {
  const [width, height] = [columns * WIDTH + 2 * PAD, rows * HEIGHT + PAD + BAR];
  const drawn = new Map<string, string>();
  const screens = frames.map(({ lines }, index) => {
    const uses = lines.slice(0, rows).flatMap((line, row) => {
      const picture = drawLine(line);
      if (picture === "") return [];
      const id = drawn.get(picture) ?? `l${drawn.size}`;
      drawn.set(picture, id);
      return [`<use href="#${id}" y="${round(row * HEIGHT)}"/>`];
    });
    return `<g transform="translate(0 ${round(index * height)})">${uses.join("")}</g>`;
  });
  const defs = [...drawn].map(([picture, id]) => `<g id="${id}">${picture}</g>`).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text { font: ${SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: ${INK}; white-space: pre }
.b { font-weight: 700 } .d { opacity: .6 } .i { font-style: italic } .u { text-decoration: underline }
#film { animation: film ${round(total(frames) / 1000)}s step-end infinite }
@keyframes film { ${keyframes(frames, height)} }
@media (prefers-reduced-motion: reduce) { #film { animation: none; transform: translateY(${round(-(frames.length - 1) * height)}px) } }
</style>
<defs>
${defs}
</defs>
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<circle cx="18" cy="17" r="5.5" fill="#ff5f57"/><circle cx="37" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
<svg x="${PAD}" y="${BAR}" width="${round(columns * WIDTH)}" height="${round(rows * HEIGHT)}" overflow="hidden" aria-hidden="true"><g id="film">
${screens.join("\n")}
</g></svg>
</svg>
`;
}

function drawLine(line: readonly Cell[]): string {
  let column = 0;
  const parts: string[] = [];
  for (const cell of line) {
    const length = widthOf(cell.text);
    const x = round(column * WIDTH);
    if (cell.background !== undefined)
      parts.push(
        `<rect x="${x}" width="${round(length * WIDTH)}" height="${HEIGHT}" fill="${colorOf(cell.background)}"/>`,
      );
    if (cell.text.trim() !== "") parts.push(drawText(cell, x, length));
    column += length;
  }
  return parts.join("");
}

function drawText(cell: Cell, x: number, length: number): string {
  const classes = [cell.isBold && "b", cell.isDim && "d", cell.isItalic && "i", cell.isUnderlined && "u"];
  const named = classes.filter(Boolean).join(" ");
  const fill = cell.color === undefined ? "" : ` style="fill:${colorOf(cell.color)}"`;
  // The length keeps columns aligned in whatever font the reader has.
  return `<text x="${x}" y="${SIZE}" textLength="${round(length * WIDTH)}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${named ? ` class="${named}"` : ""}${fill}>${escaped(cell.text)}</text>`;
}

function keyframes(frames: readonly Frame[], height: number): string {
  let passed = 0;
  const all = total(frames);
  return frames
    .map(({ ms }, index) => {
      const at = round((passed / all) * 100, 3);
      passed += ms;
      return `${at}% { transform: translateY(${round(-index * height)}px) }`;
    })
    .join(" ");
}

function total(frames: readonly Frame[]): number {
  return frames.reduce((sum, { ms }) => sum + ms, 0);
}

function colorOf(color: number | string): string {
  return typeof color === "number" ? PALETTE[color]! : color;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
