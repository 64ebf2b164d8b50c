import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EntryDraft } from "../../schema/entry.ts";
import { contentHash } from "../../util/content-hash.ts";
import { readSkills } from "./skills/read-skills.ts";
import type { RefusedSkill, Skill, SkillPlace } from "./skills/skill.ts";
import { type SkillDraftOptions, skillDrafts } from "./skills/skill-drafts.ts";

/** The skills of some places, each as it was when it was last good. */
export interface FollowedSkills {
  /** Changes with what their drafts hold. */
  readonly key: string;
  readonly drafts: readonly EntryDraft[];
  readonly problems: readonly string[];
  /** Everything to watch, whole paths. */
  readonly folders: readonly string[];
}

const MAX_WALKED = 20_000;

/** Reads skills anew only where a file of theirs has another size or time than before. */
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
    // What was written while it was read has another stamp the next time.
    seen = stamps;
    return followed;
  };
}

/** A skill that was good and is refused now, and has not gone. */
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
