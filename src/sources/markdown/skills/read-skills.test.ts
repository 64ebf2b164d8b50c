import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeSkill } from "../../../../test/skill-folder.ts";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import type { ReadableEntry } from "../../../core/nouns/entry.ts";
import { readSkills } from "./read-skills.ts";
import { skillPlaces } from "./skill.ts";
import { skillDrafts } from "./skill-drafts.ts";

async function readOne(fields: string, manifest?: string) {
  const folder = temporaryFolder();
  writeSkill(folder, "one", { fields, ...(manifest !== undefined && { manifest }) });
  return readSkills([{ origin: "user", folder }]);
}

describe("the fields of a skill", () => {
  test("are those of the standard, plus triggers and toolsets", async () => {
    const { skills, refused } = await readOne(
      [
        "license: Apache-2.0",
        "compatibility: Needs git",
        "version: 1.10",
        "metadata:\n  author: me\n  level: 3",
        "allowed-tools: Read Bash(git:*)",
        'toolsets:\n  - "toolsets/index:HelloToolset"',
        "scripts:\n  - scripts/run.sh\n  - name: other",
        "triggers:\n  keywords: [a, 'b c']\n  verbs: do\n  patterns: ['x+']",
      ].join("\n"),
    );
    expect(refused).toEqual([]);
    expect(skills[0]).toMatchObject({
      name: "one",
      briefDescription: "Helps with one.",
      license: "Apache-2.0",
      compatibility: "Needs git",
      version: "1.10",
      allowedTools: ["Read", "Bash(git:*)"],
      toolsets: [{ path: "toolsets/index", className: "HelloToolset" }],
      scripts: ["scripts/run.sh", '{"name":"other"}'],
      defaultEnabled: true,
    });
    expect({ ...skills[0]?.metadata }).toEqual({ author: "me", level: "3" });
    expect(skills[0]?.triggers).toMatchObject({ keywords: ["a", "b c"], verbs: ["do"] });
  });

  test("are read despite common slips", async () => {
    const { skills } = await readOne(
      "",
      "\uFEFF---\r\nname: one \r\ndescription: Use when: asked\r\n---\t\r\nBody\r\n",
    );
    expect(skills[0]).toMatchObject({ description: "Use when: asked", body: "Body\n" });
  });

  test("are refused with their line", async () => {
    const { refused } = await readOne("triggers: 5");
    expect(refused[0]).toMatchObject({ line: 4, reason: "its triggers is not a list of fields" });
    expect(refused[0]?.path).toMatch(/one\/SKILL\.md$/);
  });
});

describe("places", () => {
  test("are ordered from bundled to user to project", () => {
    expect(skillPlaces({ bundled: ["/b"], home: "/h", project: "/p" }).map(({ folder }) => folder)).toEqual([
      "/b",
      "/h/.config/opencode/skills",
      "/h/.codex/skills",
      "/h/.gemini/skills",
      "/h/.qwen/skills",
      "/h/.copilot/skills",
      "/h/.claude/skills",
      "/h/.agents/skills",
      "/h/.keyhole/skills",
      "/p/.claude/skills",
      "/p/.agents/skills",
      "/p/.keyhole/skills",
    ]);
    expect(skillPlaces({ home: "/h", project: "/h" })).toEqual(skillPlaces({ home: "/h" }));
    expect(skillPlaces({ home: false })).toEqual([]);
  });

  test("that do not exist, or hold other files, are no error", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "no-skill"));
    writeFileSync(join(folder, "README.md"), "x");
    expect(
      await readSkills([
        { origin: "user", folder },
        { origin: "user", folder: "/nowhere/at/all" },
      ]),
    ).toEqual({
      skills: [],
      refused: [],
    });
  });

  test("the nearest of a name wins, and the others are reported", async () => {
    const root = temporaryFolder();
    const [bundled, home, project] = ["bundled", "home", "project"].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    for (const [place, body] of [
      [bundled, "b"],
      [join(home, ".agents/skills"), "u"],
      [join(project, ".claude/skills"), "p-claude"],
      [join(project, ".keyhole/skills"), "p-keyhole"],
    ] as const)
      writeSkill(place, "same", { body });
    const { skills, refused } = await readSkills(skillPlaces({ bundled: [bundled], home, project }));
    expect(skills.map(({ body }) => body.trim())).toEqual(["p-keyhole"]);
    expect(refused).toHaveLength(3);
  });
});

test("a skill is one listed entry that names its files, which are hidden entries", async () => {
  const folder = temporaryFolder();
  writeSkill(folder, "one", { files: { "references/x y.md": "X" }, fields: "triggers:\n  keywords: [tea]" });
  const { skills } = await readSkills([{ origin: "user", folder }]);
  const drafts = skillDrafts(skills, "know");
  expect(drafts.map(({ route, visibility }) => [route, visibility])).toEqual([
    ["know://skills/one", "listed"],
    ["know://skills/one/SKILL.md", "hidden"],
    ["know://skills/one/references/x%20y.md", "hidden"],
  ]);
  expect(drafts[0]?.phrases).toEqual(["tea"]);
  const text = await (drafts[0] as ReadableEntry).load({}, {} as never);
  expect(text).toBe(
    "Do it well.\n\nFiles of this skill, to be read with get:\n- know://skills/one/references/x%20y.md (1 bytes)",
  );
});
