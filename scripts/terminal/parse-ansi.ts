/** A run of text in one style. */
export interface Cell {
  readonly text: string;
  /** A colour of the palette (0 to 15) or `#rrggbb`; undefined is the terminal's own. */
  readonly color?: number | string;
  readonly background?: number | string;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
}

type Style = { -readonly [key in keyof Omit<Cell, "text">]: Cell[key] } & { isInverse?: boolean };

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with it.
const SEQUENCE = /\u001b\[([\d;:]*)m|\u001b\]8;[^\u001b]*\u001b\\|\u001b[()][\w]|[\u000e\u000f]/g;

/** Reads a captured screen with its colours, line by line. Other escape sequences are dropped. */
export function parseAnsi(screen: string): Cell[][] {
  let style: Style = {};
  return screen
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => {
      const cells: Cell[] = [];
      let from = 0;
      for (const match of line.matchAll(SEQUENCE)) {
        if (match.index > from) cells.push(toCell(line.slice(from, match.index), style));
        if (match[1] !== undefined) style = changed(style, match[1]);
        from = match.index + match[0].length;
      }
      if (from < line.length) cells.push(toCell(line.slice(from), style));
      return cells;
    });
}

function toCell(text: string, { isInverse, ...style }: Style): Cell {
  if (!isInverse) return { text, ...style };
  return { ...style, text, color: style.background ?? "#0d1117", background: style.color ?? "#e6edf3" };
}

function changed(before: Style, codes: string): Style {
  let style = { ...before };
  const parts = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < parts.length; at += 1) {
    const code = parts[at]!;
    if (code === 0) style = {};
    else if (code === 1) style.isBold = true;
    else if (code === 2) style.isDim = true;
    else if (code === 3) style.isItalic = true;
    else if (code === 4) style.isUnderlined = true;
    else if (code === 7) style.isInverse = true;
    else if (code === 22) style = { ...style, isBold: false, isDim: false };
    else if (code === 23) style.isItalic = false;
    else if (code === 24) style.isUnderlined = false;
    else if (code === 27) style.isInverse = false;
    else if (code >= 30 && code <= 37) style.color = code - 30;
    else if (code >= 90 && code <= 97) style.color = code - 82;
    else if (code >= 40 && code <= 47) style.background = code - 40;
    else if (code >= 100 && code <= 107) style.background = code - 92;
    else if (code === 39) delete style.color;
    else if (code === 49) delete style.background;
    else if (code === 38 || code === 48) {
      const [color, length] = extended(parts.slice(at + 1));
      if (code === 38) style.color = color;
      else style.background = color;
      at += length;
    }
  }
  return style;
}

/** `5;n` is a colour of the palette of 256, `2;r;g;b` a free one. */
function extended([kind, ...rest]: readonly number[]): [color: number | string, length: number] {
  if (kind === 2) return [hex(rest.slice(0, 3)), 4];
  const index = rest[0] ?? 0;
  if (index < 16) return [index, 2];
  if (index >= 232) return [hex(Array(3).fill(8 + (index - 232) * 10)), 2];
  const cube = index - 16;
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  return [hex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level)), 2];
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.min(255, part).toString(16).padStart(2, "0")).join("")}`;
}
