import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isProblem } from "../../../base/problems/problem.ts";
import { parseFrontMatter } from "./front-matter.ts";

const read = (yaml: string) => parseFrontMatter(`---\n${yaml}\n---\nBody.\n`, "x.md");

/** The refusal as `line:column reason`. */
function refusal(text: string): string {
  try {
    parseFrontMatter(text, "x.md");
  } catch (error) {
    if (!isProblem(error) || error.code !== "FILE_INVALID") throw error;
    return error.message.replace(/^x\.md:/, "");
  }
  return "read";
}

describe("front matter", () => {
  test("gives data, body and their lines", () => {
    const { data, body, bodyLine, lines } = read("name: a\ntags:\n  - x\n  - y\non: true\nn: 5");
    expect({ ...data }).toEqual({ name: "a", tags: ["x", "y"], on: true, n: 5 });
    expect({ ...lines }).toEqual({ name: 2, tags: 3, on: 6, n: 7 });
    expect([body, bodyLine]).toEqual(["Body.\n", 9]);
  });

  test.each(["", "Just text.", "# Title\n---\n", "----\nname: a\n---\n", " ---\nname: a\n---\n"])(
    "is not there in %j",
    (text) => {
      expect(parseFrontMatter(text, "x.md")).toMatchObject({ body: text, bodyLine: 1 });
    },
  );

  test.each(["---\n---\nx", "---\n\n# only a comment\n---\nx", "---\n~\n...\nx"])(
    "may be empty: %j",
    (text) => {
      const { data, body } = parseFrontMatter(text, "x.md");
      expect([{ ...data }, body]).toEqual([{}, "x"]);
    },
  );
});

describe("slips are forgiven", () => {
  test.each([
    ["a byte order mark", "\uFEFF---\nname: a\ndescription: b\n---\n"],
    ["Windows line ends", "---\r\nname: a\r\ndescription: b\r\n---\r\n"],
    ["blanks after the dashes", "---  \nname: a\ndescription: b\n---\t \n"],
    ["the end as a document ends", "---\nname: a\ndescription: b\n...\n"],
    ["no line end at the end", "---\nname: a\ndescription: b\n---"],
  ])("%s", (_, text) => {
    expect({ ...parseFrontMatter(text, "x.md").data }).toEqual({ name: "a", description: "b" });
  });

  test.each([
    ["Use it when: the user asks", "Use it when: the user asks"],
    ["Reads: a, b: c 'quoted' # no", "Reads: a, b: c 'quoted' # no"],
    ["[beta] Makes tea", "[beta] Makes tea"],
    ["*Makes* tea", "*Makes* tea"],
    ["`tea` maker", "`tea` maker"],
    ["@tea maker", "@tea maker"],
    ["%tea", "%tea"],
    ["{a} and {b}", "{a} and {b}"],
    ["Makes tea.\n  Use when: thirsty", "Makes tea. Use when: thirsty"],
  ])("plain text that YAML takes otherwise: %j", (written, meant) => {
    const { data, lines } = read(`description: ${written}\nname: a`);
    expect({ ...data }).toEqual({ description: meant, name: "a" });
    expect(lines.name).toBe(written.includes("\n") ? 4 : 3);
  });

  test("accepts tabs and a colon in a nested value", () => {
    const { data } = read("metadata:\n\tauthor: me: and you\ntriggers:\n\tkeywords:\n\t\t- tea: now");
    expect(JSON.parse(JSON.stringify(data))).toMatchObject({ metadata: { author: "me: and you" } });
  });

  test("keeps the written text beside the value", () => {
    const { data, written } = read("a: 1.10\nb: 0x1F\nc: 'x'\nd: 2026-07-28\ne: [1]");
    expect({ ...data }).toEqual({ a: 1.1, b: 31, c: "x", d: "2026-07-28", e: [1] });
    expect({ ...written }).toEqual({ a: "1.10", b: "0x1F", c: "x", d: "2026-07-28" });
  });

  test("returns the repaired YAML, which is valid", () => {
    const { data, yaml } = read("description: Use it when: asked\nname: a");
    expect(yaml).toBe("description: 'Use it when: asked'\nname: a\n");
    expect({ ...read(yaml).data }).toEqual({ ...data });
  });
});

describe("a refusal names the place", () => {
  test.each([
    ["---\nname: a\nno end", /^1:1: its front matter is not closed/],
    ["---\n- a\n- b\n---\n", /^2:1: the front matter is not a list of fields/],
    ["---\njust text\n---\n", /^2:1: the front matter is not/],
    ["---\nname: a\nname: b\n---\n", /^3:1: the field name occurs twice/],
    ['---\nname: a\ndescription: "open\n---\n', /^\d:\d+: missing closing/],
    ["---\nname: !!js/function 'function () {}'\n---\n", /^2:7: unresolved tag/],
    ["---\nname: !<tag:evil> x\n---\n", /^2:7: unresolved tag/],
    ["---\n? [a, b]\n: c\n---\n", /^2:3: the name of a field is not plain text/],
  ])("%j", (text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  test("alias bombs and deep nesting", () => {
    const laughs = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i += 1)
      laughs.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`)}]`);
    expect(refusal(`---\n${laughs.join("\n")}\n---\n`)).toMatch(/more than (50 aliases|10000 values)/);
    expect(refusal("---\na: &a\n  b: *a\n---\n")).toMatch(/nested|aliases|alias/);
    expect(refusal(`---\na: ${"[".repeat(30_000)}${"]".repeat(30_000)}\n---\n`)).toMatch(/nested/);
    expect(refusal(`---\na: ${"[".repeat(40)}${"]".repeat(40)}\n---\n`)).toMatch(/nested more than 16/);
    expect(refusal(`---\na: ${"x".repeat(70_000)}\n---\n`)).toMatch(/longer than 65536/);
    expect(refusal(`---\n${"k: v\n".repeat(12_000)}---\n`)).toMatch(/occurs twice/);
    expect(refusal("x".repeat(5 * 2 ** 20))).toMatch(/longer than 4194304/);
  });

  test("names such as __proto__ are ordinary names", () => {
    const { data } = read("__proto__:\n  polluted: yes\nconstructor: a\nnested:\n  __proto__: b");
    expect(Object.getPrototypeOf(data)).toBeNull();
    expect(Object.keys(data)).toEqual(["__proto__", "constructor", "nested"]);
    expect(Object.hasOwn(data.nested as object, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("any text is read or refused with a place", () => {
    const piece = fc.constantFrom(
      "---",
      "\n",
      ": ",
      "- ",
      "a",
      "'",
      '"',
      "&a",
      "*a",
      "[",
      "{",
      "|",
      "\t",
      "!!",
      "#",
      "\r",
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 40 }),
        (parts) => {
          const said = refusal(`---\n${parts.join("")}\n---\n`);
          if (said !== "read") expect(said).toMatch(/^[1-9]\d*:[1-9]\d*: /);
        },
      ),
      { numRuns: 500 },
    );
  });
});
