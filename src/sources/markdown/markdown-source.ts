import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { problem } from "../../base/problems/problem.ts";
import { systemClock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Source, SourceContent } from "../../core/nouns/source.ts";
import { followSource, type Reading, type ReadRequest } from "../follow-source.ts";
import { createFollowSkills, type FollowedSkills } from "./follow-skills.ts";
import { INDEX_FOLDER, readLibraryIndex } from "./library-index.ts";
import { matchDrafts } from "./match/match-drafts.ts";
import type { LookupStatistics } from "./match/matcher.ts";
import { EMPTY_LIBRARY, type Library, readLibrary } from "./read-library.ts";
import type { SkillPlace } from "./skills/skill.ts";
import type { SkillDraftOptions } from "./skills/skill-drafts.ts";
import { createToContent } from "./to-content.ts";
import { type FolderWatch, watchFolders } from "./watch-folders.ts";

/** Options of {@link createMarkdownSource}. */
export interface MarkdownSourceOptions {
  /** Contains `prompts/`, `fragments/` (or `resources/`), `rules/` and `skills/`. */
  readonly directory: string | URL;
  /** The subject of the library. */
  readonly description: string;
  /** Scopes needed to see anything of the library. Files may require more. */
  readonly scopes?: readonly string[];
  /**
   * The scheme of the library's own URIs: with `orchestr8`, `fragments/agents/types.md` is shown as
   * `orchestr8://agents/types`. By default entries are shown by their routes, and the source's name is the scheme for
   * reading.
   */
  readonly scheme?: string;
  /** Whether saved files take effect at once. Default: true. */
  readonly watch?: boolean;
  /** Further places of skills, such as `skillPlaces()`. Skills of the directory win. */
  readonly skillPlaces?: readonly SkillPlace[];
  /** Which skills wait for approval, and which bundled skills are enabled. */
  readonly skillOptions?: Omit<SkillDraftOptions, "source">;
  /** The folder that `keyhole catalog index` wrote. Default: `.index` in the directory. */
  readonly indexDirectory?: string;
}

/** The state of a library. See {@link MarkdownSource.diagnostics}. */
export interface MarkdownDiagnostics {
  readonly files: number;
  /** Present problems of files, each with its location. Such files serve their last good content. */
  readonly problems: readonly string[];
  /** Whether the start used an index, or why it could not. */
  readonly index: "used" | "absent" | { readonly reason: string };
  readonly lookups: Readonly<LookupStatistics>;
}

/** A source that follows one library of Markdown files. */
export interface MarkdownSource extends Source {
  /** Looks for changed files. With `force`, reads every file. */
  refresh(signal?: AbortSignal, force?: boolean): Promise<void>;
  diagnostics(): MarkdownDiagnostics;
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/i;
const SCHEME = /^[a-z][a-z0-9+.-]{0,63}$/i;

/**
 * Creates a source for a directory of Markdown files. Its entries are in the domain of the given name.
 *
 * @throws INVALID_INPUT if the name or the scheme is not one
 * @example
 * ```ts
 * import { mkdir, writeFile } from "node:fs/promises";
 * import { createGateway } from "keyhole";
 * import { createMarkdownSource } from "keyhole/sources";
 *
 * await mkdir("notes/fragments/guides", { recursive: true });
 * await writeFile("notes/fragments/guides/travel.md", "# Travel\n\nBook trains early.");
 * const notes = createMarkdownSource("notes", { directory: "notes", description: "How we work." });
 * const gateway = createGateway({ domains: [], sources: [notes] });
 * const { hits } = await gateway.ask({ query: "travel" });
 * console.assert(hits.length > 0);
 * await gateway.close();
 * ```
 */
export function createMarkdownSource(name: string, options: MarkdownSourceOptions): MarkdownSource {
  const { scheme } = options;
  check("name", NAME.test(name), "letters, digits, hyphens and underscores");
  check("scheme", scheme === undefined || SCHEME.test(scheme), "letters, digits, plus, dots and hyphens");
  const directory =
    options.directory instanceof URL ? fileURLToPath(options.directory) : resolve(options.directory);
  const indexFolder = resolve(options.indexDirectory ?? join(directory, INDEX_FOLDER));
  const places: SkillPlace[] = [
    ...(options.skillPlaces ?? []),
    { origin: "project", folder: join(directory, "skills") },
  ];
  const id = `markdown:${name}`;
  const lookups: LookupStatistics = { quick: 0, searched: 0 };
  const { description, scopes = [], watch = true } = options;
  const toContent = createToContent({ name, description, scopes }, scheme);
  const followSkills = createFollowSkills(places, name, { ...options.skillOptions, source: id });
  let library: Library | undefined;
  let skills: FollowedSkills | undefined;
  let content: SourceContent | undefined;
  let index: MarkdownDiagnostics["index"] = "absent";
  let problems: readonly string[] = [];
  let watched: FolderWatch | undefined;

  async function read({ force }: ReadRequest): Promise<Reading> {
    const opened = library ? undefined : await openLibrary(directory, indexFolder);
    if (opened) index = opened.index;
    const before = library;
    const next = opened?.library ?? (await readLibrary(directory, force ? withoutStamps(before!) : before!));
    const nextSkills = await followSkills();
    watchAll(next, nextSkills);
    const isUnchanged = before && skills && isSame(before, next) && isSameSkills(skills, nextSkills);
    library = next;
    skills = nextSkills;
    if (!content || !isUnchanged) content = toSourceContent(next, nextSkills);
    return { content };
  }

  function watchAll({ folders, unsettled }: Library, { folders: skillFolders }: FollowedSkills): void {
    if (watch) watched?.follow([...(folders.length > 0 ? folders : [directory]), ...skillFolders]);
    if (unsettled) watched?.note();
  }

  function toSourceContent(next: Library, { drafts: skillDrafts, problems: refused }: FollowedSkills) {
    const { domain, drafts, fragments, warnings } = toContent(next.files.values());
    const reported = new Set(problems);
    problems = [...next.problems.values(), ...refused, ...warnings];
    const matches = matchDrafts({ domain: name, scheme }, fragments, lookups);
    return {
      domains: [domain],
      drafts: [...drafts, ...skillDrafts, ...matches],
      warnings: problems.filter((reason) => !reported.has(reason)),
    };
  }

  const followed = followSource({
    clock: systemClock,
    read,
    watch: ({ changed }) => {
      const watcher = watchFolders(changed, systemClock);
      watched = watcher;
      return watcher.close;
    },
  });

  return {
    id,
    scopes,
    digest: contentHash({ ...options, name, directory, indexFolder }),
    ...followed,
    diagnostics: () => ({ files: library?.files.size ?? 0, problems, index, lookups: { ...lookups } }),
  };
}

function check(what: string, holds: boolean, allowed: string): void {
  if (holds) return;
  const reason = `${what}: begins with a letter and has ${allowed} only`;
  throw problem("INVALID_INPUT", { operation: "createMarkdownSource", reason });
}

/** Without stamps, every file counts as changed and is read. */
function withoutStamps(library: Library): Library {
  const files = [...library.files].map(([path, file]) => [path, { ...file, stamp: "" }] as const);
  return { ...library, files: new Map(files) };
}

/** Compares content only, not times. */
function isSame(one: Library, other: Library): boolean {
  const reasons = ({ problems }: Library) => JSON.stringify([...problems]);
  if (one.files.size !== other.files.size || reasons(one) !== reasons(other)) return false;
  return other.files.values().every(({ path, hash }) => one.files.get(path)?.hash === hash);
}

function isSameSkills(one: FollowedSkills, other: FollowedSkills): boolean {
  return one.key === other.key && one.problems.join("\n") === other.problems.join("\n");
}

/** Opens a library from its index and reads the files that changed since. Ignores a damaged index. */
async function openLibrary(directory: string, indexFolder: string) {
  const indexed = await readLibraryIndex(indexFolder);
  const files = indexed && "files" in indexed ? indexed.files : undefined;
  const library = await readLibrary(directory, files ? { ...EMPTY_LIBRARY, files } : EMPTY_LIBRARY);
  const unusable = indexed && "reason" in indexed ? indexed : "absent";
  return { library, index: files ? "used" : unusable } as const;
}
