import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../base/util/json.ts";
import { toTable } from "./content.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    " ",
    "1",
    "1e5",
    "true",
    "null",
    "a,b",
    "a\n9,forged",
    "x\r\n1,2",
    "a\u2028b",
    '"',
    "{",
    "[1]",
    "\u0085",
  ),
);
const cell: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  fc.record({ inner: text }),
);

test("a table can be read back, and no value forges a row or a cell", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.string(), fc.constantFrom("__proto__", "id", "a,b", "a\nb", "")), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.nat({ max: 1_000 }),
      fc.array(fc.array(cell, { minLength: 5, maxLength: 5 }), { minLength: 3, maxLength: 12 }),
      (names, missing, cells) => {
        const rows = cells.map((values, at) => {
          const fields = names.map((name, index) => [name, values[index]!] as const);
          return Object.fromEntries(names.length > 3 && at === missing % 12 ? fields.slice(1) : fields);
        }) as Json[];
        const table = toTable(rows);
        expect(table).toBeDefined();
        const [head, ...lines] = table!.split("\n").map(toCells);
        expect(lines).toHaveLength(rows.length);
        const read = lines.map((line) =>
          Object.fromEntries(
            line.flatMap((value, at) => (value === undefined ? [] : [[String(head![at]), value]])),
          ),
        );
        expect(read).toEqual(rows);
      },
    ),
  );
});

test("lists of different shapes are no table", () => {
  expect(toTable([{ a: 1 }, { b: 2 }, { c: 3 }])).toBeUndefined();
  expect(toTable([1, 2, 3])).toBeUndefined();
  expect(toTable([{ a: 1 }, { a: 2 }])).toBeUndefined();
  expect(toTable([{}, {}, {}])).toBeUndefined();
});

/** Reads a line back: JSON where a cell is JSON, text otherwise, undefined for an empty cell. */
function toCells(line: string): (Json | undefined)[] {
  const cells: (Json | undefined)[] = [];
  for (let at = 0; at <= line.length; ) {
    const end = cellEnd(line, at);
    cells.push(toValue(line.slice(at, end)));
    at = end + 1;
  }
  return cells;
}

function cellEnd(line: string, from: number): number {
  let depth = 0;
  let quoted = false;
  const isJson = /["[{]/.test(line[from] ?? "");
  for (let at = from; at < line.length; at++) {
    const character = line[at];
    if (isJson && quoted && character === "\\") at++;
    else if (isJson && character === '"') quoted = !quoted;
    else if (isJson && !quoted && /[[{]/.test(character!)) depth++;
    else if (isJson && !quoted && /[\]}]/.test(character!)) depth--;
    else if (character === "," && !quoted && depth === 0) return at;
  }
  return line.length;
}

function toValue(written: string): Json | undefined {
  if (written === "") return undefined;
  try {
    return JSON.parse(written) as Json;
  } catch {
    return written;
  }
}
