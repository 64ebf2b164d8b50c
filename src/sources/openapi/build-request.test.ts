import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { isProblem } from "../../base/problems/problem.ts";
import { buildRequest, templateRefusal } from "./build-request.ts";
import type { OperationPlan, ParameterIn, ParameterPlan, Style } from "./operation-plan.ts";

const base = new URL("https://api.example.com/v1/");

function parameter(
  name: string,
  place: ParameterIn,
  style: Style,
  explode = false,
  asJson = false,
): ParameterPlan {
  return { argument: name, name, place, style, explode, asJson };
}

function request(plan: Partial<OperationPlan>, args: Record<string, unknown>) {
  return buildRequest({ method: "GET", path: "/x", parameters: [], ...plan }, args, base, "api.x");
}

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(..."./\\%2eEfF?#@:;,&= \t\r\n\0\u202eé💥\ud800") }),
  fc.constantFrom(
    "..",
    ".",
    "../..",
    "%2e%2e",
    "..%2f",
    "..\\",
    "//evil.example",
    "@evil.example",
    "?a=b",
    "#f",
    ";x",
  ),
  fc.constantFrom("constructor", "__proto__", "https://evil.example/", "a/../b", "．．", "..;/", "%00", " "),
);

describe("the URL of a call", () => {
  const templates = [
    "/a/{one}/b/{two}",
    "/{one}{two}",
    "/f/{one}.json/{two}",
    "/a;v={one}/{two}/",
    "/x.{one}-{two}..",
  ];

  verifies("openapi:stays-within", "keeps origin, path template and values for any text", () => {
    const style = fc.constantFrom<Style>("simple", "label", "matrix");
    const property = fc.property(
      fc.constantFrom(...templates),
      hostile,
      hostile,
      hostile,
      style,
      fc.boolean(),
      (path, one, two, query, pathStyle, explode) => {
        const parameters = [
          parameter("one", "path", pathStyle, explode),
          parameter("two", "path", "simple"),
          parameter("q", "query", "form", true),
        ];
        const url = urlOrRefusal({ path, parameters }, { one, two, q: query });
        if (url === undefined) return;
        expect(url.origin).toBe(base.origin);
        expect(url.username + url.password + url.hash).toBe("");
        const expected = `/v1${path}`.split("/");
        const actual = url.pathname.split("/");
        expect(actual.length).toBe(expected.length);
        for (const [index, segment] of expected.entries()) {
          const filled = segment
            .replaceAll("{one}", () => written("one", one, pathStyle))
            .replaceAll("{two}", () => two);
          expect(decodeURIComponent(actual[index]!)).toBe(filled.toWellFormed());
        }
        expect([...url.searchParams]).toEqual([["q", query.toWellFormed()]]);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  verifies("openapi:stays-within", "holds for lists and objects in any place and style", () => {
    const value = fc.oneof(hostile, fc.array(hostile), fc.dictionary(hostile, hostile), fc.jsonValue());
    const styles = fc.constantFrom<Style>("form", "spaceDelimited", "pipeDelimited", "deepObject");
    fc.assert(
      fc.property(
        value,
        value,
        styles,
        fc.boolean(),
        fc.boolean(),
        (inPath, inQuery, style, explode, asJson) => {
          const parameters = [
            parameter("p", "path", "simple", explode, asJson),
            parameter("q", "query", style, explode, asJson),
          ];
          const url = urlOrRefusal({ path: "/a/{p}/b", parameters }, { p: inPath, q: inQuery });
          if (url === undefined) return;
          expect(url.origin).toBe(base.origin);
          expect(url.pathname).toMatch(/^\/v1\/a\/[^/]+\/b$/);
          expect(url.hash).toBe("");
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each(["..", ".", "", "../admin", "a/../../b", "..\\x"])("%j is no path parameter", (one) => {
    const parameters = [parameter("one", "path", "simple")];
    expect(urlOrRefusal({ path: "/a/{one}", parameters }, { one })).toBeUndefined();
  });

  test("a slash stays inside its segment", () => {
    const parameters = [parameter("path", "path", "simple")];
    const url = urlOrRefusal({ path: "/contents/{path}", parameters }, { path: "src/a b.ts" });
    expect(url?.pathname).toBe("/v1/contents/src%2Fa%20b.ts");
  });

  test.each(["x", "/a/../b", "/a?b", "/a#b", "/a/%2e%2E/b", "/a\\b", "/a\nb"])(
    "%j is no template",
    (path) => {
      expect(templateRefusal(path)).toBeTypeOf("string");
    },
  );
});

describe("headers", () => {
  const headers = (value: unknown) =>
    request({ parameters: [parameter("X-Note", "header", "simple")] }, { "X-Note": value }).headers;

  test.each(["a\r\nHost: evil", "a\nb", "\0", "日本"])("%j is refused", (value) => {
    expect(() => headers(value)).toThrow(/do not fit/);
  });

  test("lists are joined, and line breaks are refused", () => {
    expect(headers(["a", "b"])).toEqual({ "x-note": "a,b" });
    fc.assert(
      fc.property(hostile, (value) => {
        try {
          expect(headers(value)["x-note"]).not.toMatch(/[\r\n\0]/);
        } catch (error) {
          if (!isProblem(error)) throw error;
        }
      }),
    );
  });
});

describe("styles", () => {
  const color = { R: 100, G: 200 };
  const list = ["blue", "black"];

  test.each<[Style, boolean, unknown, string]>([
    ["form", true, list, "c=blue&c=black"],
    ["form", false, list, "c=blue,black"],
    ["form", true, color, "R=100&G=200"],
    ["form", false, color, "c=R,100,G,200"],
    ["spaceDelimited", false, list, "c=blue%20black"],
    ["spaceDelimited", false, color, "c=R%20100%20G%20200"],
    ["pipeDelimited", false, list, "c=blue%7Cblack"],
    ["pipeDelimited", false, color, "c=R%7C100%7CG%7C200"],
    ["deepObject", true, color, "c%5BR%5D=100&c%5BG%5D=200"],
    ["deepObject", true, { a: { b: [1, 2] } }, "c%5Ba%5D%5Bb%5D=1&c%5Ba%5D%5Bb%5D=2"],
    ["form", true, "a,b&c=d", "c=a%2Cb%26c%3Dd"],
    ["form", true, true, "c=true"],
  ])("query %s, explode %s, %j", (style, explode, value, expected) => {
    const { url } = request({ parameters: [parameter("c", "query", style, explode)] }, { c: value });
    expect(url.search).toBe(`?${expected}`);
  });

  test.each<[Style, boolean, unknown, string]>([
    ["simple", false, list, "blue,black"],
    ["simple", false, color, "R,100,G,200"],
    ["simple", true, color, "R=100,G=200"],
    ["label", false, list, ".blue,black"],
    ["label", true, list, ".blue.black"],
    ["label", true, color, ".R=100.G=200"],
    ["matrix", false, "blue", ";c=blue"],
    ["matrix", false, list, ";c=blue,black"],
    ["matrix", true, list, ";c=blue;c=black"],
    ["matrix", true, color, ";R=100;G=200"],
  ])("path %s, explode %s, %j", (style, explode, value, expected) => {
    const plan = { path: "/p/{c}", parameters: [parameter("c", "path", style, explode)] };
    expect(request(plan, { c: value }).url.pathname).toBe(`/v1/p/${expected}`);
  });

  test("writes JSON in a parameter and cookies, and sends no null", () => {
    const parameters = [
      parameter("filter", "query", "form", true, true),
      parameter("seen", "cookie", "form", true),
      parameter("gone", "query", "form", true),
    ];
    const made = request({ parameters }, { filter: { a: [1] }, seen: "a;b", gone: null });
    expect(made.url.search).toBe(`?filter=${encodeURIComponent('{"a":[1]}')}`);
    expect(made.cookies).toEqual(["seen=a%3Bb"]);
  });
});

function written(name: string, value: string, style: Style): string {
  return style === "label" ? `.${value}` : style === "matrix" ? `;${name}=${value}` : value;
}

/** The URL, or undefined where the args are refused; anything else that is thrown fails the test. */
function urlOrRefusal(plan: Partial<OperationPlan>, args: Record<string, unknown>): URL | undefined {
  try {
    return request(plan, args).url;
  } catch (error) {
    if (isProblem(error) && error.code === "INVALID_PARAMS") return undefined;
    throw error;
  }
}
