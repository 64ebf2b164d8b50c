// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the shell's.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/requirements.ts";
import { CORPUS_RULES, SHELL_CORPUS, WIDE_CORPUS, WIDE_RULES } from "../../../../test/shell-corpus.ts";
import { decide } from "../decide.ts";
import { readRules } from "../permission-rules.ts";
import { toShellRequest } from "../to-request.ts";

const place = { root: "/nowhere/project", home: "/home/me" };
const rules = [readRules("project", {}), readRules("user", CORPUS_RULES)];
const wide = [readRules("project", {}), readRules("user", WIDE_RULES)];

async function classify(command: string, by = rules): Promise<string> {
  return decide(await toShellRequest(command, place.root), by, place).verdict;
}

/** Each command that is not classified as expected, with both verdicts. */
async function misjudged(corpus: typeof SHELL_CORPUS, by: typeof rules): Promise<string[]> {
  const wrong: string[] = [];
  for (const [expected, command] of corpus) {
    const verdict = await classify(command, by);
    if (verdict !== expected)
      wrong.push(`${verdict} instead of ${expected}: ${JSON.stringify(command.slice(0, 80))}`);
  }
  return wrong;
}

describe("the corpus of shell commands", () => {
  test("has at least 800 commands, each once", () => {
    for (const corpus of [SHELL_CORPUS, WIDE_CORPUS])
      expect(new Set(corpus.map(([, command]) => command)).size).toBe(corpus.length);
    expect(SHELL_CORPUS.length + WIDE_CORPUS.length).toBeGreaterThanOrEqual(800);
  });

  verifies("permissions:corpus", "is classified as expected, without one false allow", async () => {
    expect(await misjudged(SHELL_CORPUS, rules)).toEqual([]);
  });

  verifies(
    "permissions:corpus",
    "is classified as expected where rules allow a program with all its words",
    async () => {
      expect(await misjudged(WIDE_CORPUS, wide)).toEqual([]);
    },
  );
});

const of = (verdict: string) =>
  fc.constantFrom(...SHELL_CORPUS.filter(([expected]) => expected === verdict).map(([, command]) => command));
const joint = fc.constantFrom(
  " && ",
  " || ",
  " ; ",
  " | ",
  " & ",
  "\n",
  ";",
  "&&",
  "||",
  "|",
  "&",
  " ",
  "\n\n",
);

describe("whatever is joined to an allowed command", () => {
  test("asks unless all of it is allowed", async () => {
    // A comment or a here-document may take what follows into itself, so that there is one part only.
    const whole = of("allow").filter((command) => !/#|<</.test(command));
    const broken = fc.oneof(of("deny"), of("ask")).filter((command) => /^[a-z]+ [a-z ]+$/.test(command));
    const joined = fc.constantFrom(" && ", " || ", " ; ", " | ", " & ", "\n", ";", "&&", "||", "|", "&");
    await fc.assert(
      fc.asyncProperty(whole, joined, broken, fc.boolean(), async (good, between, bad, first) => {
        const command = first ? `${good}${between}${bad}` : `${bad}${between}${good}`;
        expect(await classify(command)).not.toBe("allow");
      }),
      { numRuns: 400 },
    );
  });

  test("is never allowed with a substitution, an expansion or an unseen character in it", async () => {
    const poison = fc.constantFrom(
      "$(id)",
      "`id`",
      "$X",
      "${X}",
      "<(id)",
      "\r",
      "\0",
      "\u200b",
      "\u202e",
      "*",
      "$'a'",
    );
    const simple = of("allow").filter((command) => /^[a-z ]+$/.test(command));
    await fc.assert(
      fc.asyncProperty(simple, poison, fc.nat(40), fc.boolean(), async (command, bad, at, quoted) => {
        const place = at % (command.length + 1);
        const inserted = quoted && bad.startsWith("$(") ? `"${bad}"` : bad;
        expect(await classify(command.slice(0, place) + inserted + command.slice(place))).not.toBe("allow");
      }),
      { numRuns: 400 },
    );
  });

  test("is allowed where all parts are", async () => {
    const simple = of("allow").filter((command) => /^[a-z ]+$/.test(command));
    const joined = fc.constantFrom(" && ", " || ", " ; ", " | ", " & ", "\n");
    await fc.assert(
      fc.asyncProperty(simple, joined, simple, async (one, between, other) => {
        expect(await classify(`${one}${between}${other}`)).toBe("allow");
      }),
    );
  });

  test("is always answered, whatever the text", async () => {
    const piece = fc.oneof(
      of("allow"),
      of("ask"),
      joint,
      fc.string({ unit: "binary" }),
      fc.constantFrom(..."'\"`$(){}[]<>|&;\\#~*?! \n"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        expect(["allow", "ask", "deny"]).toContain(await classify(pieces.join("")));
      }),
      { numRuns: 200 },
    );
  });
});
