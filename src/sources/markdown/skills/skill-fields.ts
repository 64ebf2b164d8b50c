import { RE2JS } from "re2js";
import type { Problem } from "../../../base/problems/problem.ts";
import { listOf } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import { toPlainText } from "../../../core/nouns/plain-text.ts";
import { type FrontMatter, fileProblem } from "../files/front-matter.ts";
import type { SkillFields, SkillTriggers, TriggerPattern } from "./skill.ts";

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
const MAX_WORDS = 100;
const MAX_WORD = 200;
const MAX_PATTERN = 500;
/** Instructions of a compiled pattern. Nested repetitions multiply them. */
const MAX_PROGRAM = 5_000;
const MAX_MATCH_WORK = 4_000_000;
const TOOLSET = /^([\w.@/-]{1,200}):([A-Za-z_$][\w$]{0,100})$/;

/**
 * Reads the fields of a SKILL.md.
 *
 * @throws FILE_INVALID with the line of anything that the standard forbids.
 */
export function toSkillFields(read: FrontMatter, directory: string, file: string): SkillFields {
  const { data, written, lines } = read;
  const refuse = (field: string, reason: string): Problem =>
    fileProblem(file, lines[field] ?? 1, 1, `its ${field} ${reason}`);

  function text(field: string, max: number): string | undefined {
    const value = data[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "object") throw refuse(field, "is not text");
    const plain = (typeof value === "string" ? value : (written[field] ?? String(value))).trim();
    if (plain.length > max) throw refuse(field, `is longer than ${max} characters`);
    return plain === "" ? undefined : plain;
  }

  function words(field: string, value: unknown, max = MAX_WORD): string[] {
    if (value === undefined || value === null) return [];
    const list = Array.isArray(value) ? value : [value];
    if (list.length > MAX_WORDS) throw refuse(field, `has more than ${MAX_WORDS} values`);
    return list.map((word) => {
      if (typeof word !== "string" && typeof word !== "number") throw refuse(field, "holds what is not text");
      if (String(word).length > max) throw refuse(field, `holds a text longer than ${max} characters`);
      return String(word).trim();
    });
  }

  function triggers(): SkillTriggers {
    const { keywords, verbs, patterns } = fieldsIn("triggers");
    return {
      keywords: words("triggers", keywords).filter(Boolean),
      verbs: words("triggers", verbs).filter(Boolean),
      patterns: words("triggers", patterns, MAX_PATTERN)
        .filter(Boolean)
        .map((pattern) => compile(pattern, (reason) => refuse("triggers", reason))),
    };
  }

  const name = text("name", MAX_NAME);
  if (name === undefined) throw refuse("name", "is missing");
  if (!NAME.test(name))
    throw refuse(
      "name",
      "has other characters than lower-case letters, digits and single hyphens between them",
    );
  if (name !== directory) throw refuse("name", `is ${name}, and its folder is called ${directory}`);
  const description = text("description", MAX_DESCRIPTION);
  if (description === undefined) throw refuse("description", "is missing");
  const license = text("license", MAX_DESCRIPTION);
  const compatibility = text("compatibility", MAX_COMPATIBILITY);
  const version = text("version", MAX_NAME);
  return {
    name,
    description,
    briefDescription: toSummary(text("brief_description", MAX_DESCRIPTION) ?? description),
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(version !== undefined && { version }),
    metadata: toMetadata(),
    allowedTools: allowedTools(),
    toolsets: words("toolsets", data.toolsets).map((toolset) => {
      const [, path = "/", className = ""] = TOOLSET.exec(toolset) ?? [];
      if (path.startsWith("/") || path.split("/").includes(".."))
        throw refuse("toolsets", `has ${toolset}, which is not path:Class within the skill`);
      return { path, className };
    }),
    scripts: listOf(data.scripts).slice(0, MAX_WORDS).map(toPlainText),
    triggers: triggers(),
    defaultEnabled: data.default_enabled !== false,
  };

  function fieldsIn(field: string): Record<string, unknown> {
    const fields = data[field] ?? Object.create(null);
    if (typeof fields !== "object" || Array.isArray(fields)) throw refuse(field, "is not a list of fields");
    return fields;
  }

  function toMetadata(): Record<string, string> {
    const metadata: Record<string, string> = Object.create(null);
    for (const [key, value] of Object.entries(fieldsIn("metadata")).slice(0, MAX_WORDS))
      metadata[key] = toPlainText(value);
    return metadata;
  }

  /** The standard separates by blanks. Many authors write a list, or commas. */
  function allowedTools(): string[] {
    const tools = data["allowed-tools"];
    if (typeof tools !== "string") return words("allowed-tools", tools);
    return splitTools(tools.slice(0, MAX_DESCRIPTION));
  }
}

function compile(pattern: string, refuse: (reason: string) => Problem): TriggerPattern {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), RE2JS.CASE_INSENSITIVE);
  } catch {
    throw refuse(`has a pattern that cannot be matched in linear time: ${pattern}`);
  }
  if (/\\k/.test(pattern)) throw refuse(`has a pattern with a back-reference: ${pattern}`);
  const size = compiled.programSize();
  if (size > MAX_PROGRAM) throw refuse(`has a pattern that is too large: ${pattern}`);
  return {
    source: pattern,
    matches: (text) => size * text.length <= MAX_MATCH_WORK && compiled.test(text),
  };
}

/** Splits at blanks and commas outside brackets: `Bash(git add:*) Read`. */
function splitTools(text: string): string[] {
  const tools: string[] = [];
  let open = 0;
  let tool = "";
  for (const char of text) {
    if (char === "(") open += 1;
    if (char === ")") open -= 1;
    if (open <= 0 && (char === "," || char.trim() === "")) {
      tools.push(tool);
      tool = "";
    } else tool += char;
  }
  return [...tools, tool].filter(Boolean);
}
