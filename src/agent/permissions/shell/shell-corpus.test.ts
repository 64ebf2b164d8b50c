import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/claims.ts";
import {
  CONFIRMED_CORPUS,
  CORPUS_RULES,
  confirmedRules,
  SHELL_CORPUS,
  WIDE_CORPUS,
  wideRules,
} from "../../../../test/shell-corpus.ts";
import { decide } from "../decide.ts";
import { type PermissionRules, readRules } from "../permission.ts";
import { toShellRequest } from "../to-request.ts";

const place = { root: "/nowhere/project", home: "/home/me" };
const MOST_SHOWN = 20;

/** The first commands that are not classified as expected, with both verdicts. */
async function misjudged(
  corpus: typeof SHELL_CORPUS,
  rulesFor: (command: string) => PermissionRules,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [expected, command] of corpus) {
    const rules = [readRules("user", rulesFor(command))];
    const { verdict } = decide(await toShellRequest(command, place.root), rules, place);
    if (verdict !== expected)
      wrong.push(`${verdict} instead of ${expected}: ${JSON.stringify(command.slice(0, 80))}`);
    if (wrong.length === MOST_SHOWN) break;
  }
  return wrong;
}

describe("the corpus of shell commands", () => {
  test("has at least 800 commands, each once, and at least 120 everyday ones", () => {
    for (const corpus of [SHELL_CORPUS, WIDE_CORPUS])
      expect(new Set(corpus.map(([, command]) => command)).size).toBe(corpus.length);
    expect(SHELL_CORPUS.length + WIDE_CORPUS.length).toBeGreaterThanOrEqual(800);
    expect(WIDE_CORPUS.filter(([verdict]) => verdict === "allow").length).toBeGreaterThanOrEqual(120);
  });

  verifies("permissions:corpus", "is classified as expected, without one false allow", async () => {
    expect(await misjudged(SHELL_CORPUS, () => CORPUS_RULES)).toEqual([]);
  });

  verifies("permissions:corpus", "is classified as expected by rules for whole programs", async () => {
    expect(await misjudged(WIDE_CORPUS, wideRules)).toEqual([]);
  });

  verifies(
    "permissions:corpus",
    "is classified as expected by rules that a person has confirmed",
    async () => {
      expect(await misjudged(CONFIRMED_CORPUS, confirmedRules)).toEqual([]);
    },
  );
});
