import { expect, test } from "vitest";
import type { AnyTool } from "../../core/nouns/definition.ts";
import { fromDomains } from "./from-domains.ts";

function visibilityOf(fields: Partial<AnyTool>): string | readonly string[] {
  const tool = { name: "greet", description: "Say hello.", execute: () => "Hello", ...fields };
  const { drafts, errors = [] } = fromDomains([
    { name: "office", description: "Office life.", tools: [tool] },
  ]);
  return drafts[0]?.visibility ?? errors;
}

test("a definition says its visibility, in one of two spellings", () => {
  expect(visibilityOf({})).toBe("listed");
  for (const visibility of ["entry", "listed", "hidden"] as const)
    expect(visibilityOf({ visibility })).toBe(visibility);
  expect(visibilityOf({ searchable: true })).toBe("entry");
  expect(visibilityOf({ searchable: false })).toBe("hidden");
});

test("a definition with both spellings, or with an unknown visibility, is refused", () => {
  expect(visibilityOf({ visibility: "hidden", searchable: false })).toEqual([
    expect.stringContaining("give visibility or searchable, not both"),
  ]);
  expect(visibilityOf({ visibility: "secret" as never })).toEqual([expect.stringContaining("visibility")]);
});
