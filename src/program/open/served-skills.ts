import { existsSync } from "node:fs";
import { field } from "../../base/util/plain-object.ts";
import { skillPlaces } from "../../sources/markdown/skills/skill.ts";
import { isTrusted } from "./folder-trust.ts";
import type { Settings } from "./settings-schema.ts";

/**
 * The skills of a server with `skills: true`: those of the user, and those of the folder if it has some and a person
 * has trusted it. Undefined if no server serves skills.
 */
export async function servedSkills({ mcpServers, skills }: Settings, folder: string) {
  if (!Object.values(mcpServers).some((server) => field(server, "skills") === true)) return undefined;
  const ofFolder = skillPlaces({ home: false, project: folder }).map((place) => place.folder);
  const isServed = ofFolder.some((place) => existsSync(place)) && (await isTrusted(folder));
  return {
    places: [
      ...skillPlaces(isServed ? { project: folder } : {}),
      ...skills.places.map((place) => ({ origin: "user" as const, folder: place })),
    ],
    isUsed: (name: string) => isSkillUsed(skills, name),
  };
}

/** Whether the settings leave a skill in use. */
export function isSkillUsed({ enabled, disabled }: Settings["skills"], name: string): boolean {
  return (enabled?.includes(name) ?? true) && !disabled.includes(name);
}
