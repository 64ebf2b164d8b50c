import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { problem } from "../../schema/problem.ts";
import type { Source, SourceContent } from "../../schema/source.ts";
import { systemClock } from "../../util/clock.ts";
import { contentHash } from "../../util/content-hash.ts";
import { type Debounced, debounce } from "../../util/debounce.ts";
import { followSource, type Reading, type ReadRequest } from "../follow-source.ts";
import { createFollowSkills, type FollowedSkills } from "./follow-skills.ts";
import { INDEX_FOLDER } from "./library-index.ts";
import type { LookupStatistics } from "./match/matcher.ts";
import { buildScenarioIndex, type ScenarioIndex } from "./match/scenario-index.ts";
import { matchDraft } from "./match-draft.ts";
import { fragmentsOf, openLibrary, sameFiles } from "./open-library.ts";
import { type Library, readLibrary } from "./read-library.ts";
import type { SkillPlace } from "./skills/skill.ts";
import type { SkillDraftOptions } from "./skills/skill-drafts.ts";
import { createToContent } from "./to-content.ts";
import { type FolderWatch, watchFolders } from "./watch-folders.ts";

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
  const { description, scopes = [], watch = true } = options;
  const toContent = createToContent({ name, description, scopes });
  const followSkills = createFollowSkills(places, name, { ...options.skillOptions, source: id });
  let library: Library | undefined;
  let skills: FollowedSkills | undefined;
  let content: SourceContent | undefined;
  let index: MarkdownDiagnostics["index"] = "absent";
  let problems: readonly string[] = [];
  let folders: FolderWatch | undefined;
  let saves: Debounced | undefined;

  async function read({ anew }: ReadRequest): Promise<Reading> {
    const opened = library ? undefined : await openLibrary(directory, indexFolder);
    if (opened) index = opened.index;
    const before = library;
    const next = opened?.library ?? (await readLibrary(directory, anew ? withoutStamps(before!) : before!));
    const nextSkills = await followSkills();
    watchAll(next, nextSkills);
    const isUnchanged = before && skills && isSame(before, next) && isSameSkills(skills, nextSkills);
    library = next;
    skills = nextSkills;
    if (!content || !isUnchanged) {
      const loadScenarios = opened?.loadScenarios ?? (async () => buildScenarioIndex(fragmentsOf(next)));
      content = toSourceContent(next, nextSkills, loadScenarios);
    }
    return { content };
  }

  /** Changes in a folder that was not watched so far may have been missed. */
  function watchAll({ folders: found, unsettled }: Library, { folders: skillFolders }: FollowedSkills): void {
    const all = [...(found.length > 0 ? found : [directory]), ...skillFolders];
    if (folders?.follow([...new Set(all)]) || unsettled) saves?.note();
  }

  function toSourceContent(
    { files, problems: broken }: Library,
    { drafts: skillDrafts, problems: brokenSkills }: FollowedSkills,
    loadScenarios: () => Promise<ScenarioIndex>,
  ): SourceContent {
    const { domain, drafts, fragments, warnings } = toContent(files.values());
    const told = new Set(problems);
    problems = [...broken.values(), ...brokenSkills, ...warnings];
    const match = fragments.size > 0 ? [matchDraft(name, fragments, loadScenarios, lookups)] : [];
    return {
      domains: [domain],
      drafts: [...drafts, ...skillDrafts, ...match],
      warnings: problems.filter((one) => !told.has(one)),
    };
  }

  const followed = followSource({
    clock: systemClock,
    read,
    watch: ({ changed }) => {
      const ownSaves = debounce(changed, { clock: systemClock, quietMs: QUIET_MS, longestMs: LONGEST_MS });
      const ownFolders = watch ? watchFolders(ownSaves.note) : undefined;
      saves = ownSaves;
      folders = ownFolders;
      return () => {
        ownSaves.cancel();
        ownFolders?.close();
      };
    },
  });

  return {
    id,
    digest: contentHash({ ...options, name, directory, indexFolder }),
    ...followed,
    diagnostics: () => ({ files: library?.files.size ?? 0, problems, index, lookups: { ...lookups } }),
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
