import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonc } from "./parse-jsonc.ts";

test("comments, trailing commas and a byte order mark are accepted", async () => {
  const parsed = await parseJsonc(`\uFEFF// a config
{
\t"servers": { /* two
of them */
\t\t"a": { "command": "x // y", "args": ["/* no */", "\\"//",], }, // the first
\t},
}`);
  expect(parsed).toMatchObject({
    ok: true,
    value: { servers: { a: { command: "x // y", args: ["/* no */", '"//'] } } },
  });
  if (!parsed.ok) return;
  expect(await parsed.positionOf(["servers", "a"])).toEqual({ line: 5, column: 3 });
  expect(await parsed.positionOf(["servers", "b"])).toEqual({ line: 3, column: 2 });
});

test("plain JSON has positions, too", async () => {
  const parsed = await parseJsonc('{\n  "a:\\"b": { "c": [1] }\n}');
  expect(parsed.ok && parsed.value).toEqual({ 'a:"b': { c: [1] } });
  expect(parsed.ok && (await parsed.positionOf(['a:"b', "c"]))).toEqual({ line: 2, column: 14 });
});

test.each([
  ['{\n  "a": {\n', 3],
  ['{\n  "a": tru e x\n  "b": }', 2],
  ['{\n  "a": 1,\n  "a": 2\n}', 3],
  ['{\n  "x": [{ "a": 1,\n  "\\u0061" : 2 }]\n}', 3],
  ['{ "a": "never ends', 1],
  [`${"[".repeat(100_000)}`, 1],
  [`\n${'{"a":'.repeat(70)}`, 2],
])("%j is refused with its line", async (text, line) => {
  const parsed = await parseJsonc(text);
  expect(parsed).toMatchObject({ ok: false, position: { line } });
});

test("names of Object.prototype are ordinary keys", async () => {
  const parsed = await parseJsonc('{ "__proto__": { "polluted": true }, "constructor": 1 }');
  expect(parsed.ok && Object.hasOwn(parsed.value as object, "__proto__")).toBe(true);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("JSON is read as JSON.parse reads it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), async (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      for (const written of [text, `// first\n${text} /* last */`]) {
        const parsed = await parseJsonc(written);
        expect(parsed).toMatchObject({ ok: true });
        expect(parsed.ok && parsed.value).toEqual(JSON.parse(text));
      }
    }),
  );
});

test("no text makes it throw", async () => {
  await fc.assert(fc.asyncProperty(fc.string(), async (text) => void (await parseJsonc(text))));
});
