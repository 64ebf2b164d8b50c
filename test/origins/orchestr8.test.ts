// Walks the document of the prompt library (Orchestr8): its URIs, parameters and examples, as they are written.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createGateway, loadTokenCounter } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { toKeywords } from "../../src/sources/markdown/files/keywords.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { LONG_FRAGMENTS, ORCHESTR8, openLibrary, saveAll, urisOf } from "./orchestr8-library.ts";

const countTokens = await loadTokenCounter();
const WAIT = { timeout: 30_000, interval: 5 };

describe("static URIs", () => {
  test.each(["orchestr8://agents/typescript-developer", "@orchestr8://agents/typescript-developer"])(
    "%s reads resources/agents/typescript-developer.md",
    async (uri) => {
      const { read } = openLibrary();
      expect(await read(uri)).toContain("# TypeScript Developer Agent");
    },
  );

  test("a resource that does not exist is not found", async () => {
    const { read } = openLibrary();
    expect(await read("@orchestr8://agents/nonexistent")).toBe("NOT_FOUND");
  });

  test("the library's name is the default scheme", async () => {
    const directory = temporaryFolder();
    saveAll(directory, ORCHESTR8);
    const source = createMarkdownSource("orchestr8", { directory, description: "Agents." });
    const gateway = createGateway({ domains: [], sources: [source] });
    onTestFinished(() => gateway.close());
    const { summary } = await gateway.get({
      routes: [
        { route: "@orchestr8://agents/typescript-core" },
        { route: "@orchestr8://agents/match?query=typescript" },
      ],
    });
    expect(summary).toMatchObject({ succeeded: 2 });
  });

  test("a library of another name keeps the scheme of its files", async () => {
    const { read } = openLibrary(ORCHESTR8, {}, "team");
    expect(await read("orchestr8://skills/error-handling-async")).toContain("Catch what you can mend.");
    expect(await read("team://resources/skills/error-handling-async")).toContain("Catch what you can mend.");
    expect(urisOf(await read("@orchestr8://match?query=typescript"))).toContain(
      "orchestr8://agents/typescript-core",
    );
  });

  test("a wrong scheme is refused at once", () => {
    const make = () =>
      createMarkdownSource("a", { directory: ".", description: "A.", scheme: "not a scheme" });
    expect(make).toThrow(/INVALID_INPUT|scheme/);
  });
});

describe("dynamic URIs", () => {
  test("@orchestr8://match?query=typescript+async+error&maxTokens=2500&mode=catalog ranks as the document does", async () => {
    const { read } = openLibrary();
    const text = await read("@orchestr8://match?query=typescript+async+error&maxTokens=2500&mode=catalog");
    const uris = urisOf(text);
    expect(uris[0]).toBe("orchestr8://agents/typescript-async-patterns");
    const [errors, core] = [
      uris.indexOf("orchestr8://skills/error-handling-async"),
      uris.indexOf("orchestr8://agents/typescript-core"),
    ];
    expect(errors).toBeGreaterThan(0);
    expect(core).toBeGreaterThan(errors);
    expect(countTokens(text)).toBeLessThanOrEqual(2_500);
  });

  test("@orchestr8://match?query=python+async&categories=skill,example keeps to both categories", async () => {
    const { read } = openLibrary();
    const uris = urisOf(await read("@orchestr8://match?query=python+async&categories=skill,example"));
    expect(uris).toContain("orchestr8://skills/python-async");
    expect(uris).toContain("orchestr8://examples/fastapi-async-crud");
    for (const uri of uris) expect(uri).toMatch(/^orchestr8:\/\/(?:skills|examples)\//);
  });

  test("@orchestr8://agents/match?… keeps to agents and to required tags", async () => {
    const { read } = openLibrary();
    const text = await read(
      "@orchestr8://agents/match?query=typescript+api&maxTokens=2500&tags=async&mode=catalog",
    );
    const uris = urisOf(text);
    expect(uris[0]).toBe("orchestr8://agents/typescript-api-development");
    for (const uri of uris) expect(uri).toMatch(/^orchestr8:\/\/agents\/typescript-(?:api|async)/);
    expect(await read("orchestr8://guides/match?query=typescript+api")).toContain("No fragment");
  });

  test("a query without matches stays without matches, whatever its filters", async () => {
    const { read } = openLibrary();
    for (const rest of [
      "match?query=zzzz",
      "match?query=zzzz&categories=guides",
      "match?query=zzzz&categories=guides&mode=full",
      "match?query=zzzz&categories=guides&mode=index",
      "match?query=zzzz&minScore=0",
      "guides/match?query=zzzz",
      "match?query=the",
    ])
      expect(await read(`orchestr8://${rest}`), rest).toContain("No fragment matches");
    expect(urisOf(await read("orchestr8://match?query=cluster&categories=guides"))).toHaveLength(15);
  });

  test("the parameters have the document's defaults", async () => {
    const { gateway } = openLibrary();
    const help = await gateway.help({ path: "orchestr8://match", format: "full" });
    const args = "args" in help ? help.args : [];
    expect(args).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "query", required: true }),
        expect.objectContaining({ name: "maxTokens", default: 3_000 }),
        expect.objectContaining({ name: "mode", default: "catalog" }),
        expect.objectContaining({ name: "maxResults", default: 15 }),
        expect.objectContaining({ name: "minScore", default: 10 }),
        expect.objectContaining({ name: "tags" }),
        expect.objectContaining({ name: "categories" }),
      ]),
    );
  });

  test('the keywords of "Build a TypeScript REST API with authentication" are the document\'s', () => {
    expect(toKeywords("Build a TypeScript REST API with authentication")).toEqual([
      "build",
      "typescript",
      "rest",
      "api",
      "authentication",
    ]);
  });

  test("a missing query and a wrong value are refused", async () => {
    const { read } = openLibrary();
    expect(await read("orchestr8://match?mode=catalog")).toBe("INVALID_PARAMS");
    expect(await read("orchestr8://match?query=a&mode=everything")).toBe("INVALID_PARAMS");
    expect(await read("orchestr8://match?query=a&maxTokens=many")).toBe("INVALID_PARAMS");
  });

  test("minScore drops weaker matches", async () => {
    const { read } = openLibrary();
    const at = async (minScore: number) =>
      urisOf(await read(`orchestr8://match?query=typescript+async+error&minScore=${minScore}`));
    const [all, some] = [await at(0), await at(60)];
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(all.length);
    expect(all.slice(0, some.length)).toEqual(some);
  });
});

describe("mode catalog", () => {
  test("shows score, tags, capabilities, uses, tokens and the URI of each match", async () => {
    const { read } = openLibrary();
    const text = await read("@orchestr8://match?query=generic+type+constraints");
    expect(text).toContain("# Resource Catalog");
    expect(text).toMatch(/\*\*Query Results:\*\* \d+ matched resource/);
    expect(text).toMatch(/\*\*Total Tokens Available:\*\* \d/);
    expect(text).toMatch(/1\. Agent: typescript-core\n\*\*Relevance Score:\*\* \d+\/100\n/);
    expect(text).toContain("**Tags:** typescript, types, generics");
    expect(text).toContain("**Capabilities:**\n  - Complex type system design\n");
    expect(text).toContain("**Use When:**\n  - Designing type-safe APIs or libraries\n");
    expect(text).toContain("**Estimated Tokens:** ~650");
    expect(text).toContain("orchestr8://agents/typescript-core");
  });

  test("maxResults bounds what is shown", async () => {
    const { read } = openLibrary();
    expect(urisOf(await read("orchestr8://match?query=typescript+async&maxResults=2"))).toHaveLength(2);
  });

  test("every URI it shows can be read", async () => {
    const { read } = openLibrary();
    const uris = urisOf(await read("orchestr8://match?query=async"));
    expect(uris.length).toBeGreaterThan(3);
    for (const uri of uris) expect(await read(`@${uri}`), uri).toMatch(/^# /);
  });
});

describe("mode full", () => {
  test("gives the texts under score, tags and capabilities", async () => {
    const { read } = openLibrary();
    const text = await read("orchestr8://match?query=async+error+promises&mode=full");
    expect(text).toContain("## Skill: error-handling-async\n**Relevance Score:** ");
    expect(text).toContain(
      "**Tags:** async, error, promises\n**Capabilities:** Async error handling, Try/catch",
    );
    expect(text).toContain("Catch what you can mend.");
    expect(text).toContain("\n\n---\n\n");
  });

  test("the best three are shown at any cost", async () => {
    const { read } = openLibrary();
    const text = await read("orchestr8://match?query=typescript+async+error&mode=full&maxTokens=10");
    expect(text.match(/^\*\*Relevance Score/gm)).toHaveLength(3);
  });

  test("maxTokens=12000 gives up to 12,000 tokens in one answer", async () => {
    const { gateway } = openLibrary({ ...ORCHESTR8, ...LONG_FRAGMENTS });
    const route = "orchestr8://match?query=sending+invoices&mode=full&maxTokens=12000";
    const [result] = (await gateway.get({ routes: [{ route }] })).results;
    if (!result?.ok) expect.fail("failed");
    expect(result.data.stored).toBeUndefined();
    const tokens = countTokens(String(result.data.content));
    expect(tokens).toBeGreaterThan(12_000 * 0.75);
    expect(tokens).toBeLessThanOrEqual(12_000);
  });

  test("a session's budget still applies", async () => {
    const directory = temporaryFolder();
    saveAll(directory, LONG_FRAGMENTS);
    const source = createMarkdownSource("orchestr8", { directory, description: "Agents." });
    const gateway = createGateway({ domains: [], sources: [source], limits: { sessionTokens: 5_000 } });
    onTestFinished(() => gateway.close());
    const route = "orchestr8://match?query=sending+invoices&mode=full&maxTokens=12000";
    const { text } = await gateway.get({ routes: [{ route }], session: "new" });
    expect(countTokens(text)).toBeLessThanOrEqual(5_200);
  });
});

describe("mode index", () => {
  test("lists up to five URIs with a reason and tokens, within 120 tokens", async () => {
    const { read } = openLibrary();
    const text = await read("@orchestr8://match?query=typescript+async+error&mode=index");
    expect(countTokens(text)).toBeLessThanOrEqual(120);
    expect(urisOf(text).length).toBeGreaterThan(1);
    expect(urisOf(text).length).toBeLessThanOrEqual(5);
    expect(text).toMatch(/typescript-async-patterns \(~800\): \w/);
  });

  test.each([
    "typescript async error",
    "error handling for promises",
    "building async TypeScript applications",
    "typescript core",
    "rest api",
    "python",
    "cluster",
    "publish and subscribe",
  ])("finds for %j what catalog finds best", async (query) => {
    const { read } = openLibrary();
    const at = async (mode: string) =>
      urisOf(await read(`orchestr8://match?query=${encodeURIComponent(query)}&mode=${mode}`));
    const [index, catalog] = [await at("index"), await at("catalog")];
    expect(index.length).toBeGreaterThan(0);
    expect(index).toEqual(catalog.slice(0, index.length));
  });

  test("the same question is answered from the quick lookup", async () => {
    const { read, source } = openLibrary();
    await read("orchestr8://match?query=typescript+async&mode=index");
    await read("orchestr8://match?query=the+async+TYPESCRIPT&mode=index");
    expect(source.diagnostics().lookups.quick).toBe(1);
  });
});

describe("fragments", () => {
  test("headings and sections supply fields that front matter lacks", async () => {
    const { read } = openLibrary();
    const text = await read("orchestr8://patterns/match?query=fan-out+events");
    expect(text).toContain("**Capabilities:**\n  - Fan-out of events");
    expect(text).toContain("**Use When:**\n  - Many services react to one event");
  });

  test("cross-references lead to the fragments they name, by file and by URI", async () => {
    const { gateway } = openLibrary();
    const { entries } = await gateway.view();
    const developer = entries.find(({ route }) => route.endsWith("/typescript-developer"));
    expect([...(developer?.related ?? [])].sort()).toEqual([
      "orchestr8://resources/agents/typescript-async-patterns",
      "orchestr8://resources/agents/typescript-core",
      "orchestr8://resources/skills/error-handling-async",
    ]);
  });

  test("every URI that a text of the library names can be read", async () => {
    const { read } = openLibrary();
    const named = Object.values(ORCHESTR8).flatMap((text) => text.match(/@orchestr8:\/\/\S+/g) ?? []);
    expect(named).toHaveLength(2);
    for (const uri of named) expect(await read(uri), uri).toContain("#");
  });

  test("missing categories are harmless, and a saved file is in the next answer", async () => {
    const { directory, read } = openLibrary();
    expect(await read("orchestr8://workflows/workflow-new-project")).toBe("NOT_FOUND");
    saveAll(directory, { "resources/workflows/workflow-new-project.md": "# A new project\n\nBegin small." });
    await vi.waitFor(
      async () => expect(await read("@orchestr8://workflows/workflow-new-project")).toContain("Begin small."),
      WAIT,
    );
    expect(await read("@orchestr8://workflows/match?query=project")).toContain("workflow-new-project");
    rmSync(join(directory, "resources/workflows"), { recursive: true });
    await vi.waitFor(
      async () => expect(await read("orchestr8://workflows/match?query=project")).toBe("NOT_FOUND"),
      WAIT,
    );
  });
});

describe("prompts", () => {
  test("named placeholders take their arguments", async () => {
    const { gateway } = openLibrary();
    const params = { language: "TypeScript", purpose: "REST API" };
    const { results } = await gateway.get({
      routes: [{ route: "orchestr8://prompts/agents/build", params }],
    });
    expect(results[0]).toMatchObject({
      data: { content: "Build a TypeScript application for REST API" },
    });
  });

  test("a missing argument leaves its placeholder", async () => {
    const { gateway } = openLibrary();
    const { results } = await gateway.get({
      routes: [{ route: "orchestr8://prompts/agents/build", params: { language: "Go" } }],
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is not a template of this file.
    expect(results[0]).toMatchObject({ data: { content: "Build a Go application for ${purpose}" } });
  });
});
