import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QUERY } from "../ranking/tuning.ts";
import { analyze, isStopWord, MAX_TERM, stem } from "./analyze.ts";
import { analyzeQuery, cutQuery } from "./analyze-query.ts";
import { splitClauses } from "./split-needs.ts";

const terms = (text: string) => analyze(text).map((term) => term.text);

describe("analyze", () => {
  test.each([
    ["getUserInfo", ["get", "user", "info", "getuserinfo"]],
    ["get_user-info", ["get", "user", "info", "getuserinfo"]],
    ["XMLParser", ["xml", "pars", "xmlpars"]],
    ["base64", ["bas", "64", "base64"]],
    ["Über-Größe", ["uber", "gross", "ubergross"]],
    ["ＡＢＣ ﬁle", ["abc", "fil"]],
    ["查询天气", ["查", "询", "天", "气", "查询", "询天", "天气"]],
    ["天", ["天"]],
    ["用web搜索", ["用", "web", "搜", "索", "搜索"]],
    ["한국어", ["한국", "국어"]],
    ["Москва", ["москва"]],
    ["", []],
    ["🎉 \0 \ud800", []],
  ])("%s", (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  test("takes any text, and no term is too long or in upper case", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        for (const term of analyze(text)) {
          expect(term.text.length).toBeLessThanOrEqual(MAX_TERM);
          expect(term.text.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  test("search-abuse: takes a megabyte of anything", () => {
    for (const piece of ["a", "aB", "a.", "a-", "天", "A", "é", "\ud800", "''", "1a"]) {
      const text = piece.repeat(1_000_000 / piece.length);
      // Quadratic work would take hours, so the test's own time limit is the bar.
      expect(analyze(text, 4096), piece).toBeDefined();
      expect(analyzeQuery(cutQuery(text)), piece).toBeDefined();
    }
  });
});

describe("stem", () => {
  test.each([
    ["calculate", "calculating", "calculated", "calculation", "calculator", "calculates"],
    ["translate", "translations", "translator"],
    ["analyze", "analysis", "analyse", "analyzer", "analyzing"],
    ["library", "libraries"],
    ["run", "running", "runs"],
    ["box", "boxes"],
    ["convert", "converter", "converting"],
  ])("%s and its forms", (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1);
  });

  test.each(["status", "address", "news", "ing", "bed", "red", "strasse", "москва"])(
    "leaves a stem of %s",
    (word) => {
      expect(stem(word).length).toBeGreaterThanOrEqual(3);
    },
  );
});

describe("queries", () => {
  test("stop words go, unless there is nothing else", () => {
    expect([...analyzeQuery("I want to get the weather").terms.keys()]).toEqual(["get", "weath"]);
    expect([...analyzeQuery("to be or not to be").terms.keys()]).toEqual(["to", "be", "or", "not"]);
  });

  test("verbs that names are made of are no stop words", () => {
    for (const verb of "get list find show search create read write update delete add set send open close run make use check".split(
      " ",
    )) {
      expect(isStopWord(verb), verb).toBe(false);
    }
  });

  test("a long query is cut, not inside a character", () => {
    const cut = cutQuery(`${"x".repeat(QUERY.maxLength - 1)}😀`);
    expect(cut).toBe("x".repeat(QUERY.maxLength - 1));
    expect(cutQuery("short")).toBe("short");
  });

  test("clauses end with sentences, not inside names or numbers", () => {
    expect(splitClauses("Read the file config.json please. Then send it to v2.1 users; done")).toEqual([
      "Read the file config.json please",
      "Then send it to v2.1 users. done",
    ]);
    expect(splitClauses("查询北京明天的天气预报。然后发送一封电子邮件")).toHaveLength(2);
    expect(splitClauses("one thing")).toEqual(["one thing"]);
    expect(splitClauses("...")).toEqual([]);
    expect(splitClauses("A sentence of some length. ".repeat(30)).length).toBe(8);
  });
});
