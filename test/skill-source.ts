import type { Source } from "keyhole";
import { readSkills } from "../src/sources/markdown/skills/read-skills.ts";
import { type SkillDraftOptions, skillDrafts } from "../src/sources/markdown/skills/skill-drafts.ts";

/** A source with the skills of a folder, read once at the start. */
export function skillSource(domain: string, folder: string, options: SkillDraftOptions = {}): Source {
  return {
    id: domain,
    contents: async function* () {
      const { skills } = await readSkills([{ origin: "project", folder }]);
      const domains = [{ name: domain, description: "Skills of a folder.", scopes: [], rules: [] }];
      yield { domains, drafts: skillDrafts(skills, domain, options) };
    },
  };
}
