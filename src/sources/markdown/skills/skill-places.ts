import { homedir } from "node:os";
import { join } from "node:path";
import type { SkillPlace } from "./skill.ts";

const FOLDERS = [".claude/skills", ".agents/skills", ".keyhole/skills"];

/** Options of {@link skillPlaces}. */
export interface SkillPlacesOptions {
  /** Folders of skills that come with the program. */
  readonly bundled?: readonly string[];
  /** The user's home. False leaves the user's skills out. */
  readonly home?: string | false;
  readonly project?: string;
}

/** Lists the places of skills, in rising precedence: bundled, user, project. See {@link readSkills}. */
export function skillPlaces({
  bundled = [],
  home = homedir(),
  project,
}: SkillPlacesOptions = {}): SkillPlace[] {
  const inFolders = (origin: "user" | "project", root: string): SkillPlace[] =>
    FOLDERS.map((folder) => ({ origin, folder: join(root, folder), root }));
  return [
    ...bundled.map((folder): SkillPlace => ({ origin: "bundled", folder })),
    ...(home === false ? [] : inFolders("user", home)),
    ...(project === undefined || project === home ? [] : inFolders("project", project)),
  ];
}
