import { dirname } from "node:path";
import { loadSkillToolsets } from "../../agent/loop/skills-for.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { packagedFile } from "../../base/util/packaged-file.ts";
import type { Source } from "../../core/nouns/source.ts";
import { readSkills } from "../../sources/markdown/skills/read-skills.ts";
import { type Skill, type SkillPlace, skillPlaces } from "../../sources/markdown/skills/skill.ts";
import { skillDrafts } from "../../sources/markdown/skills/skill-drafts.ts";
import { isSkillUsed } from "./served-skills.ts";
import type { Settings } from "./settings-schema.ts";

const DOMAIN = "skills";
const BUNDLED = "bundled-skills/README.md";

/**
 * Reads the skills of the package, the user and the project. Skills of untrusted projects are left out: they would
 * speak to the model in the person's name.
 */
export async function openSkills(settings: Settings["skills"], folder: string, trusted: boolean) {
  const { enabled } = settings;
  const readme = await packagedFile(BUNDLED);
  const places: SkillPlace[] = [
    ...skillPlaces({
      ...(readme !== undefined && { bundled: [dirname(readme)] }),
      ...(trusted && { project: folder }),
    }),
    ...settings.places.map((place) => ({ origin: "user" as const, folder: place })),
  ];
  const read = await readSkills(places);
  for (const { path, reason } of read.refused) console.error(toVisibleLine(`${path}: ${reason}`));
  const skills = read.skills.filter(({ name }) => isSkillUsed(settings, name));
  // Toolsets run with the user's rights. A trusted folder was shown with them; others must be named.
  const mayRun = ({ origin, name }: Skill) =>
    origin === "bundled" || origin === "project" || enabled?.includes(name) === true;
  const toolsets = await loadSkillToolsets(skills.filter(mayRun));
  const unnamed = skills.filter((skill) => skill.toolsets.length > 0 && !mayRun(skill));
  const refused = unnamed.map(
    ({ name }) => `${name}: its toolsets are not loaded: name the skill in skills.enabled of your settings`,
  );
  for (const reason of [...toolsets.refused, ...refused]) console.error(toVisibleLine(reason));
  // As entries, the model can find and read them.
  const sources = skills.length === 0 ? [] : [toSource(skills, enabled ?? [])];
  return { skills, sources, domains: toolsets.domains };
}

function toSource(skills: readonly Skill[], enabled: readonly string[]): Source {
  const domain = { name: DOMAIN, description: "Instructions for kinds of tasks.", scopes: [], rules: [] };
  return {
    id: DOMAIN,
    contents: async function* () {
      yield { domains: [domain], drafts: skillDrafts(skills, DOMAIN, { enabled }) };
    },
  };
}
