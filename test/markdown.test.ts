import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "./claims.ts";
import { NOTES, openNotes } from "./library-kit.ts";

const keeper = { id: "keeper", scopes: ["vault.read"], allowWrite: false };
const reader = { id: "reader", scopes: [], allowWrite: false };

verifies("markdown:fragments", "ask ranks fragments beside tools by their uses", async () => {
  const { directory } = openNotes();
  const tools = defineDomain({
    name: "build",
    description: "Building",
    tools: [
      defineTool({
        name: "compile_types",
        description: "Compiles type-safe interfaces.",
        execute: () => "done",
      }),
      defineTool({ name: "deploy", description: "Deploys the site.", execute: () => "done" }),
    ],
  });
  const source = createMarkdownSource("notes", { directory, description: "Notes." });
  const gateway = createGateway({ domains: [tools], sources: [source] });
  onTestFinished(() => gateway.close());
  const { hits } = await gateway.ask({ query: "designing type-safe interfaces" });
  const routes = hits.map(({ route }) => route);
  expect(routes[0]).toBe("notes://resources/agents/types");
  expect(routes).toContainEqual(expect.stringMatching(/^build:.*compile/));
});

verifies("markdown:fragments", "fragments that name each other are related entries", async () => {
  const { gateway } = openNotes();
  const help = await gateway.help({ path: "notes.resources.agents.types", format: "full" });
  expect(help.text).toContain("- notes://resources/skills/deep/errors");
});

verifies("markdown:prompts", "fills in arguments and names missing ones", async () => {
  const { gateway } = openNotes();
  const route = "notes://prompts/workflows/new-project";
  const { results } = await gateway.get({
    routes: [
      { route, params: { description: "a shop", language: "TypeScript" } },
      { route, params: { language: "TypeScript" } },
    ],
  });
  expect(results[0]).toMatchObject({ data: { content: "Build a shop in TypeScript. (a shop)" } });
  expect(results[1]).toMatchObject({
    ok: false,
    error: { code: "INVALID_PARAMS", details: { fieldErrors: [{ field: "description" }] } },
  });
});

verifies("markdown:rules", "delivers rules with the entries of their category, once a session", async () => {
  const { gateway } = openNotes();
  const first = await gateway.ask({ query: "design types", session: "new" });
  expect(first.rules).toEqual([
    { domain: "notes", category: "agent", text: "**Agents:** types before code." },
  ]);
  const again = await gateway.ask({ query: "design types", session: first.session });
  expect(again.rules).toEqual([]);
});

test("rules of an unused category are reported and not delivered", async () => {
  const { gateway, source } = openNotes({ ...NOTES, "rules/images.md": "Search first." });
  await gateway.ready();
  expect(source.diagnostics().problems).toEqual([expect.stringContaining("rules/images.md: no entry")]);
  expect((await gateway.ask({ query: "types" })).hits.length).toBeGreaterThan(0);
});

verifies(
  "markdown:match",
  "a query string of a route gives params; explicit params take precedence",
  async () => {
    const { gateway, read } = openNotes();
    expect(await read("notes://resources/match?query=types&mode=index")).toContain(
      "notes://resources/agents/types (~",
    );
    expect(await read("notes://resources/match?query=handling+errors&minScore=5&tags=error")).toContain(
      "skills/deep/errors",
    );
    expect(
      await read("notes://resources/match?query=types&mode=full&minScore=0&tags=typescript,types"),
    ).toContain("How to design types.");
    expect(await read("notes.resources.match?query=types&categories=skills&tags=none")).toContain(
      "No fragment",
    );
    expect(await read("notes://resources/match?query=types&maxTokens=many")).toBe("INVALID_PARAMS");
    expect(await read("notes://resources/match?query=types&mod=index")).toBe("INVALID_PARAMS");
    expect(await read("notes://resources/match?__proto__=x")).toBe("INVALID_PARAMS");
    expect(await read("notes://resources/nothing?query=types")).toBe("NOT_FOUND");
    const { results } = await gateway.get({
      routes: [
        { route: "notes://resources/match?query=vault&mode=full", params: { query: "types", mode: "index" } },
      ],
    });
    expect(results[0]).toMatchObject({ data: { content: expect.stringContaining("agents/types (~") } });
  },
);

verifies(
  "markdown:match",
  "a match never shows or counts fragments outside the principal's scopes",
  async () => {
    const { read } = openNotes();
    for (const mode of ["index", "catalog", "full"]) {
      const route = `notes://resources/match?query=asynchronous+calls&mode=${mode}`;
      expect(await read(route, keeper)).toMatch(/secrets|vault/);
      const seen = await read(route, reader);
      expect(seen).toMatch(/errors/);
      expect(seen).not.toMatch(/secrets|vault/);
      if (mode === "index") expect(seen).toContain("Best 1 of 1");
    }
    expect(await read("notes://resources/skills/secrets", reader)).toBe("NOT_FOUND");
    expect(await read("notes://resources/skills/secrets", keeper)).toContain("Where the vault is.");
  },
);

test("files with the same route do not break the library", async () => {
  const { read, source } = openNotes({
    ...NOTES,
    "fragments/agents/a b.md": "First.",
    "fragments/agents/a-b.md": "Second.",
    "fragments/x/y.md": "One.",
    "fragments/x.y.md": "Same op.",
    "fragments/match.md": "Taken.",
    "fragments/constructor.md": "Plain.",
  });
  expect(await read("notes://resources/agents/a-b")).toBe("First.");
  expect(await read("notes://resources/constructor")).toBe("Plain.");
  expect(source.diagnostics().problems).toHaveLength(3);
});
