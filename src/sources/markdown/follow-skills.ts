import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EntryDraft } from "../../schema/entry.ts";
import { contentHash } from "../../util/content-hash.ts";
import { readSkills } from "./skills/read-skills.ts";
import type { RefusedSkill, Skill, SkillPlace } from "./skills/skill.ts";
import { type SkillDraftOptions, skillDrafts } from "./skills/skill-drafts.ts";

/** The skills of some places, each with its last good content. */
export interface FollowedSkills {
  /** Changes with the content of the drafts. */
  readonly key: string;
  readonly drafts: readonly EntryDraft[];
  readonly problems: readonly string[];
  /** Absolute paths of the folders to watch. */
  readonly folders: readonly string[];
}

const MAX_WALKED = 20_000;

/** Reads skills again only if the size or time of a file changed. */
export function createFollowSkills(
  places: readonly SkillPlace[],
  domain: string,
  options: SkillDraftOptions,
): () => Promise<FollowedSkills> {
  let seen: string | undefined;
  let known: readonly Skill[] = [];
  let followed: FollowedSkills = { key: "", drafts: [], problems: [], folders: [] };
  return async () => {
    const { stamps, folders } = walk(places);
    if (stamps === seen) return followed;
    const read = await readSkills(places);
    const kept = known.filter((skill) => isBroken(skill, read.refused, read.skills));
    known = [...read.skills, ...kept];
    const key = contentHash(known.map(({ name, frontmatter, files }) => ({ name, frontmatter, files })));
    const drafts = key === followed.key ? followed.drafts : skillDrafts(known, domain, options);
    followed = { key, drafts, problems: read.refused.map(toProblem), folders };
    // Files written during the read have another stamp next time.
    seen = stamps;
    return followed;
  };
}

/** Whether a skill was good before, is refused now, and still exists. */
function isBroken(
  { name, folder }: Skill,
  refused: readonly RefusedSkill[],
  good: readonly Skill[],
): boolean {
  if (good.some((skill) => skill.name === name) || !existsSync(folder)) return false;
  return refused.some(({ path }) => basename(path) === name || basename(dirname(path)) === name);
}

function toProblem({ path, line, reason }: RefusedSkill): string {
  return line === undefined ? `${path}: ${reason}` : `${path}:${line}:1: ${reason}`;
}

function walk(places: readonly SkillPlace[]): { stamps: string; folders: string[] } {
  const stamps: string[] = [];
  const folders: string[] = [];
  const waiting = places.map(({ folder }) => folder);
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = listFolder(folder);
    if (entries === undefined) continue;
    folders.push(folder);
    for (const entry of entries) {
      if (stamps.length >= MAX_WALKED) return { stamps: stamps.join("\n"), folders };
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isFile()) stamps.push(`${path} ${stat.size} ${stat.mtimeMs} ${stat.ino}`);
    }
  }
  return { stamps: stamps.join("\n"), folders };
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
