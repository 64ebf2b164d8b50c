import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { discloseSkills } from "../src/sources/markdown/skills/disclose-skills.ts";
import { readSkills } from "../src/sources/markdown/skills/read-skills.ts";
import { skillDrafts } from "../src/sources/markdown/skills/skill-drafts.ts";

/** Third-party packages that ship skills, and how many. */
const CORPORA = [
  ["claude-skills", 5],
  ["@electric-sql/client", 8],
] as const;

describe("skills that packages ship", () => {
  test.each(CORPORA)("%s has %i, each read or refused with a reason", async (name, count) => {
    const root = folderOf(name);
    const manifests = globSync("**/SKILL.md", { cwd: root, exclude: ["**/node_modules/**"] });
    expect(manifests).toHaveLength(count);
    const places = new Set(manifests.map((path) => dirname(dirname(join(root, path)))));
    const { skills, refused } = await readSkills(
      [...places].map((folder) => ({ origin: "user" as const, folder })),
    );
    expect(skills.length + refused.length).toBe(count);
    for (const { path, line, reason } of refused)
      console.log(`${name}: ${relative(root, path)}:${line ?? 1} refused: ${reason}`);
    console.log(`${name}: ${skills.length} read, ${refused.length} refused`);
    const drafts = skillDrafts(skills, "corpus");
    expect(new Set(drafts.map(({ route }) => route)).size).toBe(drafts.length);
    const read = await Promise.all(
      drafts.map(async (draft) => draft.kind === "skill" && draft.load({}, {} as never)),
    );
    expect(read.every((text) => typeof text === "string" || typeof text === "object")).toBe(true);
    for (const skill of skills)
      expect(discloseSkills(`Please use the ${skill.name} skill`, skills).skills[0]?.name).toBe(skill.name);
  });
});

function folderOf(name: string): string {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const [root] = paths.flatMap((path) => globSync(join(path, name)));
  return root ?? "";
}
