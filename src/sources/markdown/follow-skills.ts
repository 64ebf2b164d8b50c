import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { systemClock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { EntryDraft } from "../../core/nouns/entry.ts";
import type { Source, SourceContent } from "../../core/nouns/source.ts";
import { followSource } from "../follow-source.ts";
import { readSkills } from "./skills/read-skills.ts";
import type { RefusedSkill, Skill, SkillPlace } from "./skills/skill.ts";
import { type SkillDraftOptions, skillDrafts } from "./skills/skill-drafts.ts";
import { type FolderWatch, walkFolders, watchFolders } from "./watch-folders.ts";

/** The skills of several places, each with its last good content. */
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
  isUsed: (name: string) => boolean = () => true,
): () => Promise<FollowedSkills> {
  let seen: string | undefined;
  let skills: readonly Skill[] = [];
  let followed: FollowedSkills = { key: "", drafts: [], problems: [], folders: [] };
  return async () => {
    const { stamps, folders } = walk(places);
    if (stamps === seen) return followed;
    const read = await readSkills(places);
    const broken = skills.filter((skill) => isBroken(skill, read.refused, read.skills));
    skills = [...read.skills, ...broken].filter(({ name }) => isUsed(name));
    const key = contentHash(skills.map(({ name, frontmatter, files }) => ({ name, frontmatter, files })));
    const drafts = key === followed.key ? followed.drafts : skillDrafts(skills, domain, options);
    followed = { key, drafts, problems: read.refused.map(toProblem), folders };
    // Files written during the read get another stamp next time.
    seen = stamps;
    return followed;
  };
}

interface SkillsSourceOptions {
  readonly places: readonly SkillPlace[];
  readonly isUsed?: (name: string) => boolean;
}

/** Follows the skills of several places. Their domain has this name; another source yields it. */
export function createSkillsSource(name: string, { places, isUsed }: SkillsSourceOptions) {
  const id = `skills:${name}`;
  const follow = createFollowSkills(places, name, { source: id }, isUsed);
  let followed: FollowedSkills | undefined;
  let content: SourceContent | undefined;
  let watched: FolderWatch | undefined;
  const source = followSource({
    clock: systemClock,
    read: async () => {
      const next = await follow();
      watched?.follow(next.folders);
      if (!content || next !== followed) content = { domains: [], drafts: next.drafts };
      followed = next;
      return { content };
    },
    watch: ({ changed }) => {
      watched = watchFolders(changed, systemClock);
      return watched.close;
    },
  });
  return {
    id,
    digest: contentHash([name, places]),
    ...source,
    /** Refused skills, each with its location. */
    problems: () => followed?.problems ?? [],
  } satisfies Source & { problems(): readonly string[] };
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
  const roots = places.map(({ folder }) => folder);
  for (const { path } of walkFolders(roots, folders)) {
    if (stamps.length >= MAX_WALKED) break;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) stamps.push(`${path} ${stat.size} ${stat.mtimeMs} ${stat.ino}`);
  }
  return { stamps: stamps.join("\n"), folders };
}
