import type { SkillManifest } from "../../../schema/entry.ts";

export type SkillOrigin = "bundled" | "user" | "project";

/** A folder that holds skills, one folder each. */
export interface SkillPlace {
  readonly origin: SkillOrigin;
  readonly folder: string;
  /** Links in the place may not lead out of it. Default: the place itself. */
  readonly root?: string;
}

/** When a skill is meant: single words, action words, and patterns over the whole query. */
export interface SkillTriggers {
  readonly keywords: readonly string[];
  readonly verbs: readonly string[];
  readonly patterns: readonly TriggerPattern[];
}

export interface TriggerPattern {
  readonly source: string;
  /** In time linear in the text, whose letters are small; false where that would still be too long. */
  readonly matches: (text: string) => boolean;
}

/** What a SKILL.md says of itself, checked. */
export interface SkillFields {
  readonly name: string;
  readonly description: string;
  /** One sentence; the description's first where none is given. */
  readonly briefDescription: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the author would like to use. It grants nothing. */
  readonly allowedTools: readonly string[];
  readonly version?: string;
  readonly toolsets: readonly { readonly path: string; readonly className: string }[];
  /** Never run. */
  readonly scripts: readonly string[];
  readonly triggers: SkillTriggers;
  readonly defaultEnabled: boolean;
}

/** A skill that can be used. */
export interface Skill extends SkillFields {
  readonly origin: SkillOrigin;
  /** The real folder of the skill. */
  readonly folder: string;
  /** The whole SKILL.md as it is served. */
  readonly text: string;
  /** The instructions, without the front matter. */
  readonly body: string;
  readonly frontmatter: SkillManifest["frontmatter"];
  /** In the order of their paths; SKILL.md is one of them. */
  readonly files: readonly SkillFile[];
  /** What is odd about it and does not stand in its way. */
  readonly warnings: readonly string[];
}

export interface SkillFile {
  /** Within the skill, with slashes. */
  readonly path: string;
  /** Of what is served: text from outside is cleaned. */
  readonly size: number;
  /** `sha256:` and the hash of what is served. */
  readonly digest: string;
}

/** Something in a place that is not used as a skill. */
export interface RefusedSkill {
  readonly path: string;
  readonly line?: number;
  readonly reason: string;
}
