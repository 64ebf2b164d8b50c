import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/claims.ts";
import { writeSkill } from "../../../../test/skill-folder.ts";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { loadTokenCounter } from "../../../base/tokens/tokens.ts";
import { discloseSkills } from "./disclose-skills.ts";
import { readSkills } from "./read-skills.ts";

const triggers = (keywords: string, more = "") => `triggers:\n  keywords: [${keywords}]\n${more}`;

async function skillsOf(fields: Readonly<Record<string, string>>, origin: "bundled" | "user" = "user") {
  const folder = join(temporaryFolder(), "skills");
  for (const [name, text] of Object.entries(fields))
    writeSkill(folder, name, { fields: text, body: `How to ${name}.` });
  return (await readSkills([{ origin, folder }])).skills;
}

const greeting = {
  "hello-extended": triggers(
    "hello, greet, good morning",
    '  verbs: [say, wave]\n  patterns: ["greet\\\\s+\\\\w+", "^hi\\\\b"]',
  ),
  "make-tea": triggers("tea, green tea"),
};

const names = (result: ReturnType<typeof discloseSkills>) => result.skills.map(({ name }) => name);

describe("tiers", () => {
  verifies("skills:tiers", "each query gets its tier", async () => {
    const skills = await skillsOf(greeting);
    expect(discloseSkills("hello", [])).toEqual({ tier: "nothing", text: "", skills: [] });
    expect(discloseSkills("compile it", skills)).toMatchObject({
      tier: "breadcrumb",
      text: "[2 skills available]",
    });
    expect(discloseSkills("What can you do?", skills)).toMatchObject({ tier: "registry" });
    expect(discloseSkills("please list skills", skills).text).toBe(
      "Skills:\n- hello-extended: Helps with hello-extended.\n- make-tea: Helps with make-tea.",
    );
    const full = discloseSkills("Greet Ann", skills);
    expect([full.tier, full.text]).toEqual([
      "full",
      "# Skill: hello-extended (user)\n\nHow to hello-extended.",
    ]);
  });

  test("a skill without triggers is in the list", async () => {
    const skills = await skillsOf({ ...greeting, plain: "" });
    const shown = discloseSkills("compile it", skills);
    expect([shown.tier, names(shown)]).toEqual(["registry", ["plain"]]);
    expect(shown.text).toContain("[2 skills more]");
    expect(discloseSkills("use the plain skill", skills).tier).toBe("full");
    expect(discloseSkills("in plain words", skills).tier).toBe("registry");
  });

  test("the breadcrumb costs 10 tokens, a skill in the list about 15", async () => {
    const countTokens = await loadTokenCounter();
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`skill-number-${index}`, triggers(`word${index}`)]),
    );
    const skills = (await skillsOf(many)).map((skill) => ({
      ...skill,
      briefDescription:
        "Reviews changes of the database schema for the mistakes that people make most often.",
    }));
    expect(countTokens(discloseSkills("compile", skills).text)).toBeLessThanOrEqual(10);
    expect(countTokens(discloseSkills("list skills", skills).text) / 40).toBeLessThanOrEqual(18);
  });

  test("a bundled skill can be off by default", async () => {
    const skills = await skillsOf({ "make-tea": `default_enabled: false\n${triggers("tea")}` }, "bundled");
    expect(discloseSkills("tea", skills).tier).toBe("nothing");
    expect(discloseSkills("tea", skills, { enabled: ["make-tea"] }).tier).toBe("full");
  });
});

describe("matches", () => {
  test.each([
    ["say it", ["hello-extended"]],
    ["essay writing", []],
    ["GOOD MORNING, all", ["hello-extended"]],
    ["good evening, morning person", []],
    ["hi there", ["hello-extended"]],
    ["oh hi", []],
    ["steak", []],
    ["make_tea", ["make-tea"]],
    ["hello, green tea", ["make-tea", "hello-extended"]],
    ["with hello-extended, make green tea", ["hello-extended", "make-tea"]],
    ["", []],
  ])("%j: %j", async (query, expected) => {
    const skills = await skillsOf(greeting);
    expect(names(discloseSkills(query, skills))).toEqual(expected);
  });

  test("at most three, by mention, longest phrase, recent use, name", async () => {
    const skills = await skillsOf({
      "aa-one": triggers("tea"),
      "bb-two": triggers("tea"),
      "cc-three": triggers("tea"),
      "dd-four": triggers("green tea"),
      "ee-five": triggers("tea"),
    });
    const query = "green tea with ee-five";
    expect(names(discloseSkills(query, skills))).toEqual(["ee-five", "dd-four", "aa-one"]);
    expect(names(discloseSkills(query, skills, { recent: ["cc-three", "bb-two"] }))).toEqual([
      "ee-five",
      "dd-four",
      "cc-three",
    ]);
    expect(names(discloseSkills(query, skills, { maxSkills: 1 }))).toEqual(["ee-five"]);
    expect(names(discloseSkills(query, skills, { maxSkills: 9 }))).toHaveLength(5);
  });

  test("is deterministic and changes nothing", async () => {
    const skills = Object.freeze(await skillsOf(greeting));
    const before = JSON.stringify(skills);
    expect(discloseSkills("tea hello", skills)).toEqual(discloseSkills("tea hello", skills));
    expect(JSON.stringify(skills)).toBe(before);
  });
});
