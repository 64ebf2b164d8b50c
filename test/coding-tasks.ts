/** A small repository with a failing test, and the edit that repairs it. */
export interface CodingTask {
  readonly name: string;
  /** The module and its test; `node test.mjs` fails. */
  readonly code: string;
  readonly test: string;
  readonly edit: { readonly oldText: string; readonly newText: string };
}

const task = (name: string, code: string, test: string, oldText: string, newText: string): CodingTask => ({
  name,
  code: `${code.trim()}\n`,
  test: `import assert from "node:assert/strict";\nimport * as it from "./code.mjs";\n${test.trim()}\n`,
  edit: { oldText, newText },
});

export const CODING_TASKS: readonly CodingTask[] = [
  task(
    "off-by-one",
    `export function lastOf(list) {
  return list[list.length];
}`,
    `assert.equal(it.lastOf([1, 2, 3]), 3);`,
    "list[list.length]",
    "list[list.length - 1]",
  ),
  task(
    "sort-numbers",
    `export const sorted = (numbers) => [...numbers].sort();`,
    `assert.deepEqual(it.sorted([10, 9, 1]), [1, 9, 10]);`,
    ".sort()",
    ".sort((one, other) => one - other)",
  ),
  task(
    "missing-await",
    `const load = async () => [1, 2];
export async function count() {
  const items = load();
  return items.length;
}`,
    `assert.equal(await it.count(), 2);`,
    "const items = load();",
    "const items = await load();",
  ),
  task(
    "shared-default",
    `const EMPTY = [];
export function add(item, list = EMPTY) {
  list.push(item);
  return list;
}`,
    `it.add(1);\nassert.deepEqual(it.add(2), [2]);`,
    "  list.push(item);\n  return list;",
    "  return [...list, item];",
  ),
  task(
    "emoji-length",
    `// A family counts as one sign: 👩‍👩‍👧
export const signs = (text) => text.length;`,
    `assert.equal(it.signs("👩‍👩‍👧!"), 2);`,
    "text.length",
    '[...new Intl.Segmenter("en").segment(text)].length',
  ),
  task(
    "persian-greeting",
    `export const greeting = "سلام، می خواهم";`,
    `assert.equal(it.greeting, "سلام، می‌خواهم");`,
    "می خواهم",
    "می‌خواهم",
  ),
  task(
    "html-comment",
    `export const page = (body) => \`<main>\${body}</main>\`;`,
    `assert.equal(it.page("x"), "<!-- made -->\\n<main>x</main>");`,
    "`<main>",
    "`<!-- made -->\\n<main>",
  ),
  task(
    "regex-dot",
    `export const isVersion = (text) => /^\\d+.\\d+$/.test(text);`,
    `assert.equal(it.isVersion("1.2"), true);\nassert.equal(it.isVersion("1x2"), false);`,
    "\\d+.\\d+",
    "\\d+\\.\\d+",
  ),
  task(
    "closure-counter",
    `let count = 0;
export function counter() {
  return () => ++count;
}`,
    `it.counter()();\nassert.equal(it.counter()(), 1);`,
    "let count = 0;\nexport function counter() {\n",
    "export function counter() {\n  let count = 0;\n",
  ),
  task(
    "cents",
    `export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);`,
    `assert.equal(it.total([0.1, 0.2]), 0.3);`,
    "sum + price, 0)",
    "sum + Math.round(price * 100), 0) / 100",
  ),
];
