import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { field, fieldsOf, listOf } from "../../../base/util/plain-object.ts";
import type { SkillManifest } from "../../../core/nouns/entry.ts";

/** The owner of a place: the program, a plugin of Claude Code, the user or the project. */
export type SkillOrigin = "bundled" | "plugin" | "user" | "project";

/** A folder that holds skills, one folder each. */
export interface SkillPlace {
  readonly origin: SkillOrigin;
  readonly folder: string;
  /** Links must stay within this folder. Default: the place itself. */
  readonly root?: string;
}

/** Triggers of a skill: words, verbs, and patterns over the whole query. */
export interface SkillTriggers {
  readonly keywords: readonly string[];
  readonly verbs: readonly string[];
  readonly patterns: readonly TriggerPattern[];
}

/** A compiled pattern of a trigger. */
export interface TriggerPattern {
  readonly source: string;
  /** Tests lower-case text in linear time. False if the text is too long. */
  readonly matches: (text: string) => boolean;
}

/** The checked fields of a SKILL.md. */
export interface SkillFields {
  readonly name: string;
  readonly description: string;
  /** One sentence. Default: the first of the description. */
  readonly briefDescription: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Tools that the author would like to use. Grants nothing. */
  readonly allowedTools: readonly string[];
  readonly version?: string;
  readonly toolsets: readonly { readonly path: string; readonly className: string }[];
  /** Never run. */
  readonly scripts: readonly string[];
  readonly triggers: SkillTriggers;
  readonly defaultEnabled: boolean;
}

/** A usable skill. */
export interface Skill extends SkillFields {
  readonly origin: SkillOrigin;
  /** The real folder of the skill. */
  readonly folder: string;
  /** The whole SKILL.md as served. */
  readonly text: string;
  /** The instructions, without the front matter. */
  readonly body: string;
  readonly frontmatter: SkillManifest["frontmatter"];
  /** All files ordered by path, SKILL.md included. */
  readonly files: readonly SkillFile[];
}

/** A file of a skill. */
export interface SkillFile {
  /** Path within the skill, with slashes. */
  readonly path: string;
  /** Size of the served content, which is cleaned. */
  readonly size: number;
  /** `sha256:` and the hash of the served content. */
  readonly digest: string;
}

/** A file or folder that is not used as a skill. */
export interface RefusedSkill {
  readonly path: string;
  readonly line?: number;
  readonly reason: string;
}

const PLUGINS = ".claude/plugins";
/** Folders of the user's own skills in other clients. */
const CLIENT_FOLDERS = [".config/opencode", ".codex", ".gemini", ".qwen", ".copilot"].map(
  (folder) => `${folder}/skills`,
);
const FOLDERS = [".claude/skills", ".agents/skills", ".keyhole/skills"];

interface SkillPlacesOptions {
  /** Folders of skills that come with the program. */
  readonly bundled?: readonly string[];
  /** The user's home. False: without the user's skills. */
  readonly home?: string | false;
  readonly project?: string;
}

/** Lists the places of skills, weakest first: bundled, plugins, user, project. See {@link readSkills}. */
export function skillPlaces({
  bundled = [],
  home = homedir(),
  project,
}: SkillPlacesOptions = {}): SkillPlace[] {
  const inFolders = (origin: "user" | "project", root: string, folders = FOLDERS): SkillPlace[] =>
    folders.map((folder) => ({ origin, folder: join(root, folder), root }));
  return [
    ...bundled.map((folder): SkillPlace => ({ origin: "bundled", folder })),
    ...(home === false
      ? []
      : [...pluginPlaces(home), ...inFolders("user", home, [...CLIENT_FOLDERS, ...FOLDERS])]),
    ...(project === undefined || project === home ? [] : inFolders("project", project)),
  ];
}

/** The user's folders that {@link skillPlaces} reads, for a person who decides about them. */
export function ownSkillFolders(home = homedir()): string[] {
  return [PLUGINS, ...CLIENT_FOLDERS, ...FOLDERS].map((folder) => join(home, folder));
}

/** Skills of plugins that are installed and enabled in Claude Code. */
function pluginPlaces(home: string): SkillPlace[] {
  const root = join(home, PLUGINS);
  const installed = readJson(join(root, "installed_plugins.json"));
  const switches = fieldsOf(field(readJson(join(home, ".claude/settings.json")), "enabledPlugins"));
  return Object.entries(fieldsOf(field(installed, "plugins")))
    .filter(([name]) => switches[name] !== false)
    .flatMap(([, copies]) => listOf(copies))
    .flatMap((copy): SkillPlace[] => {
      const path = field(copy, "installPath");
      if (typeof path !== "string" || field(copy, "scope") === "project") return [];
      return [{ origin: "plugin", folder: join(path, "skills"), root }];
    });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
