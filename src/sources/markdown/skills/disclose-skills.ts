import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { countOf } from "../../../base/util/count-of.ts";
import { splitWords } from "../../../base/util/split-words.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import type { Skill } from "./skill.ts";
import { isEnabled } from "./skill-drafts.ts";

/** How much of the skills a query sees. */
export type SkillTier = "nothing" | "breadcrumb" | "registry" | "full";

/** The part of the skills that a query sees. */
export interface SkillDisclosure {
  readonly tier: SkillTier;
  /** Text for the model's context. Empty for `nothing`. */
  readonly text: string;
  /** Skills in the text, best first. */
  readonly skills: readonly Skill[];
}

/** Options of {@link discloseSkills}. */
export interface SkillDisclosureOptions {
  /** Most skills shown in full. Default: 3. */
  readonly maxSkills?: number;
  /** Names of recently used skills, latest first. */
  readonly recent?: readonly string[];
  /** Names of bundled skills to enable although they say `default_enabled: false`. */
  readonly enabled?: readonly string[];
  /** How the model gets a skill of the list, such as `read at team://skills/NAME`. */
  readonly how?: string;
}

const MAX_SKILLS = 3;
const MAX_REGISTRY = 50;
/** About 15 tokens together with a name. */
const LINE_CHARS = 50;
const MAX_QUERY_CHARS = 8_000;

/**
 * Selects the skills for a query, and how much of them to show. Skills whose triggers match are shown in full.
 * Questions about skills, and skills without triggers, produce the list. Otherwise only their number is shown. See
 * {@link readSkills}.
 * @example
 * ```ts
 * import { mkdir, writeFile } from "node:fs/promises";
 * import { discloseSkills, readSkills } from "keyhole/sources";
 *
 * await mkdir("skills/review", { recursive: true });
 * const text = "---\nname: review\ndescription: Review a change.\n---\nRead the tests first.";
 * await writeFile("skills/review/SKILL.md", text);
 * const { skills } = await readSkills([{ origin: "project", folder: "skills" }]);
 * console.assert(discloseSkills("what can you do?", skills).tier === "registry");
 * ```
 */
export function discloseSkills(
  query: string,
  skills: readonly Skill[],
  { maxSkills = MAX_SKILLS, recent = [], enabled = [], how }: SkillDisclosureOptions = {},
): SkillDisclosure {
  const usable = skills.filter((skill) => isEnabled(skill, enabled));
  if (usable.length === 0) return { tier: "nothing", text: "", skills: [] };
  const asked = toVisibleText(query, MAX_QUERY_CHARS).toLowerCase();
  const words = ` ${splitWords(asked).join(" ")} `;
  const matches = usable
    .map((skill) => ({ skill, ...matchSkill(skill, asked, words), recency: recencyOf(skill, recent) }))
    .filter(({ mention, phrase }) => mention + phrase > 0)
    .sort(
      (one, other) =>
        other.mention - one.mention ||
        other.phrase - one.phrase ||
        one.recency - other.recency ||
        (one.skill.name < other.skill.name ? -1 : 1),
    )
    .slice(0, Math.max(0, maxSkills))
    .map(({ skill }) => skill);
  if (matches.length > 0) return { tier: "full", text: matches.map(fullText).join("\n\n"), skills: matches };
  const untriggered = usable.filter((skill) => !hasTriggers(skill));
  const listed = asksForSkills(words) ? usable : untriggered;
  if (listed.length > 0)
    return { tier: "registry", text: registryText(listed, usable.length, how), skills: listed };
  return { tier: "breadcrumb", text: `[${countOf(usable.length, "skill")} available]`, skills: [] };
}

/** `mention`: 1 if the query names the skill. `phrase`: words of the longest matching keyword or verb. */
function matchSkill({ name, triggers }: Skill, asked: string, words: string) {
  const has = (text: string) => {
    const spelt = splitWords(text);
    return spelt.length > 0 && words.includes(` ${spelt.join(" ")} `) ? spelt.length : 0;
  };
  // A single-word name is also a plain word: only a marked name counts as a mention.
  const mention = name.includes("-") ? has(name) > 0 : marks(asked, name);
  const phrases = [...triggers.keywords, ...triggers.verbs].map(has);
  const pattern = triggers.patterns.some(({ matches }) => matches(asked));
  const phrase = Math.max(0, ...phrases, pattern ? 1 : 0);
  return { mention: mention ? 1 : 0, phrase };
}

function marks(asked: string, name: string): boolean {
  const around = ["$", "/", "@", "`", '"', "'"].some((mark) => hasWhole(asked, mark + name));
  return around || hasWhole(asked, `${name} skill`) || hasWhole(asked, `skill ${name}`);
}

/** Matches at word ends only. */
function hasWhole(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1))
    if (!/^[\p{L}\p{N}-]/u.test(text.slice(at + part.length, at + part.length + 2))) return true;
  return false;
}

/** Questions about the skills themselves. */
const QUESTIONS = [
  ...["what can you do", "what are you able to do", "what else can you do", "what do you do"],
  ...["list skills", "list your skills", "list all skills", "list the skills", "list available skills"],
  ...["show skills", "show your skills", "show me your skills", "show all skills", "show available skills"],
  ...["available skills", "what skills", "which skills", "your skills", "your capabilities", "any skills"],
];

function asksForSkills(words: string): boolean {
  return QUESTIONS.some((question) => words.includes(` ${question} `));
}

function hasTriggers({ triggers: { keywords, verbs, patterns } }: Skill): boolean {
  return keywords.length + verbs.length + patterns.length > 0;
}

function recencyOf({ name }: Skill, recent: readonly string[]): number {
  const at = recent.indexOf(name);
  return at === -1 ? recent.length : at;
}

function registryText(listed: readonly Skill[], total: number, how: string | undefined): string {
  const shown = listed.slice(0, MAX_REGISTRY);
  const lines = shown.map(
    ({ name, briefDescription }) => `- ${name}: ${toSummary(briefDescription, LINE_CHARS)}`,
  );
  const more = total > shown.length ? `\n[${countOf(total - shown.length, "skill")} more]` : "";
  return `Skills${how === undefined ? "" : `, ${how}`}:\n${lines.join("\n")}${more}`;
}

function fullText({ name, origin, body }: Skill): string {
  return `# Skill: ${name} (${origin})\n\n${body.trim()}`;
}
