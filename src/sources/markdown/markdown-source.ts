import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { problem } from "../../schema/problem.ts";
import type { Source, SourceContent } from "../../schema/source.ts";
import { contentHash } from "../../util/content-hash.ts";
import { createBursts } from "./bursts.ts";
import { createFollowSkills, type FollowedSkills } from "./follow-skills.ts";
import { INDEX_FOLDER } from "./library-index.ts";
import type { LookupStatistics } from "./match/matcher.ts";
import { buildScenarioIndex, type ScenarioIndex } from "./match/scenario-index.ts";
import { matchDraft } from "./match-draft.ts";
import { fragmentsOf, openLibrary, sameFiles } from "./open-library.ts";
import { EMPTY_LIBRARY, type Library, readLibrary } from "./read-library.ts";
import type { SkillPlace } from "./skills/skill.ts";
import type { SkillDraftOptions } from "./skills/skill-drafts.ts";
import { createToContent } from "./to-content.ts";
import { watchFolders } from "./watch-folders.ts";

export interface MarkdownSourceOptions {
  /** Holds `prompts/`, `fragments/` (or `resources/`), `rules/` and `skills/`. */
  readonly directory: string | URL;
  /** What the library is about, in the owner's words. */
  readonly description: string;
  /** Who must have which scopes to see it. Files may ask for further ones. */
  readonly scopes?: readonly string[];
  /** Whether a saved file counts at once. Default true. */
  readonly watch?: boolean;
  /** Where further skills are, such as `skillPlaces()`; those of the directory come before them. */
  readonly skillPlaces?: readonly SkillPlace[];
  /** Which skills wait for approval, and which bundled ones are wanted. */
  readonly skillOptions?: Omit<SkillDraftOptions, "source">;
  /** Where `keyhole index build` has written. Default `.index` in the directory. */
  readonly indexDirectory?: string;
}

export interface MarkdownDiagnostics {
  readonly files: number;
  /** What is wrong with files as they are now, each with its place; they serve on as they were last good. */
  readonly problems: readonly string[];
  /** Whether the start had an index, and why not where there is one. */
  readonly index: "used" | "absent" | { readonly reason: string };
  readonly lookups: Readonly<LookupStatistics>;
}

/** The entries of one library of Markdown files. */
export interface MarkdownSource extends Source {
  /** Looks at the files again, with `anew` also into those that seem unchanged. */
  refresh(signal?: AbortSignal, anew?: boolean): Promise<void>;
  diagnostics(): MarkdownDiagnostics;
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/i;
/** Saving takes several steps: they are over when nothing has happened for this long, or it took too long. */
const QUIET_MS = 40;
const LONGEST_MS = 400;

/** A source for a directory of Markdown files, as the domain of that name. */
export function createMarkdownSource(name: string, options: MarkdownSourceOptions): MarkdownSource {
  if (!NAME.test(name)) {
    const reason = "it has letters, digits, hyphens and underscores, and begins with a letter";
    throw problem("INVALID_INPUT", { operation: "createMarkdownSource", reason: `name: ${reason}` });
  }
  const directory =
    options.directory instanceof URL ? fileURLToPath(options.directory) : resolve(options.directory);
  const indexFolder = resolve(options.indexDirectory ?? join(directory, INDEX_FOLDER));
  const places: SkillPlace[] = [
    ...(options.skillPlaces ?? []),
    { origin: "project", folder: join(directory, "skills") },
  ];
  const id = `markdown:${name}`;
  const lookups: LookupStatistics = { quick: 0, keywords: 0, full: 0 };
  const bursts = createBursts(QUIET_MS, LONGEST_MS);
  let waiting: (() => void)[] = [];
  let following = false;
  let anew = false;
  let library = EMPTY_LIBRARY;
  let index: MarkdownDiagnostics["index"] = "absent";
  let problems: readonly string[] = [];

  async function* contents(signal: AbortSignal): AsyncIterable<SourceContent> {
    const { description, scopes = [], watch = true } = options;
    const toContent = createToContent({ name, description, scopes });
    const followSkills = createFollowSkills(places, name, { ...options.skillOptions, source: id });
    const folders = watch ? watchFolders(bursts.note) : undefined;

    /** Watches what there is now. Where that is more than before, something may have been missed. */
    function follow({ folders: found, unsettled }: Library, skills: FollowedSkills): void {
      const all = [...(found.length > 0 ? found : [directory]), ...skills.folders];
      if (folders?.follow([...new Set(all)]) || unsettled) bursts.note();
    }

    function toYield(
      next: Library,
      skills: FollowedSkills,
      loadScenarios: () => Promise<ScenarioIndex>,
    ): SourceContent {
      const { domain, drafts, fragments, warnings } = toContent(next.files.values());
      const told = new Set(problems);
      library = next;
      problems = [...next.problems.values(), ...skills.problems, ...warnings];
      const match = fragments.size > 0 ? [matchDraft(name, fragments, loadScenarios, lookups)] : [];
      return {
        domains: [domain],
        drafts: [...drafts, ...skills.drafts, ...match],
        warnings: problems.filter((one) => !told.has(one)),
      };
    }

    following = true;
    try {
      const opened = await openLibrary(directory, indexFolder);
      let skills = await followSkills();
      index = opened.index;
      yield toYield(opened.library, skills, opened.loadScenarios);
      follow(library, skills);
      while (!signal.aborted) {
        await bursts.over(signal);
        if (signal.aborted) return;
        const asked = waiting;
        waiting = [];
        const next = await readLibrary(directory, anew ? withoutStamps(library) : library);
        anew = false;
        const nextSkills = await followSkills();
        follow(next, nextSkills);
        const same = isSame(library, next) && isSameSkills(skills, nextSkills);
        skills = nextSkills;
        if (same) library = next;
        else yield toYield(next, skills, async () => buildScenarioIndex(fragmentsOf(next)));
        for (const done of asked) done();
      }
    } finally {
      following = false;
      folders?.close();
      for (const done of waiting) done();
    }
  }

  return {
    id,
    digest: contentHash({ ...options, name, directory, indexFolder }),
    contents,
    refresh: async (_signal, all = false) => {
      if (!following) return;
      anew ||= all;
      const { promise, resolve: done } = Promise.withResolvers<void>();
      waiting.push(done);
      bursts.note();
      await promise;
    },
    diagnostics: () => ({ files: library.files.size, problems, index, lookups: { ...lookups } }),
  };
}

/** So that every file is read, whatever its size and time say. */
function withoutStamps(library: Library): Library {
  const files = [...library.files].map(([path, file]) => [path, { ...file, stamp: "" }] as const);
  return { ...library, files: new Map(files) };
}

function isSame(one: Library, other: Library): boolean {
  const reasons = ({ problems }: Library) => JSON.stringify([...problems]);
  return sameFiles(one.files, other.files) && reasons(one) === reasons(other);
}

function isSameSkills(one: FollowedSkills, other: FollowedSkills): boolean {
  return one.key === other.key && one.problems.join("\n") === other.problems.join("\n");
}
