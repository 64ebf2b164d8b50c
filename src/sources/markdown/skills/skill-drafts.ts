import { extname } from "node:path";
import { contentHash } from "../../../base/util/content-hash.ts";
import { BARE_ENTRY } from "../../../core/nouns/bare-entry.ts";
import type { EntryDraft, Origin, ReadableEntry } from "../../../core/nouns/entry.ts";
import type { Skill, SkillFile, SkillOrigin } from "./skill.ts";
import { readListedFile, textOfBytes } from "./skill-files.ts";

/** Options of {@link skillDrafts}. */
export interface SkillDraftOptions {
  /** Id of their source. Default: the domain. */
  readonly source?: string;
  /** Skills of these origins wait until a person has approved all their files. */
  readonly quarantine?: readonly SkillOrigin[];
  /** Names of bundled skills to enable although they say `default_enabled: false`. */
  readonly enabled?: readonly string[];
}

/**
 * Turns each skill into an entry, and each of its files into a hidden entry below it. A {@link Source} yields them. See
 * {@link readSkills}.
 * @example
 * ```ts
 * import { mkdir, writeFile } from "node:fs/promises";
 * import { readSkills, skillDrafts } from "keyhole/sources";
 *
 * await mkdir("skills/review", { recursive: true });
 * const text = "---\nname: review\ndescription: Review a change.\n---\nRead the tests first.";
 * await writeFile("skills/review/SKILL.md", text);
 * const { skills } = await readSkills([{ origin: "project", folder: "skills" }]);
 * const [entry] = skillDrafts(skills, "team");
 * console.assert(entry?.route === "team://skills/review");
 * ```
 */
export function skillDrafts(
  skills: readonly Skill[],
  domain: string,
  options: SkillDraftOptions = {},
): EntryDraft[] {
  const { source = domain, quarantine = [], enabled = [] } = options;
  return skills
    .filter((skill) => isEnabled(skill, enabled))
    .flatMap((skill) => {
      const route = `${domain}://skills/${skill.name}`;
      const definition = { frontmatter: { ...skill.frontmatter }, files: skill.files };
      const origin: Origin | undefined = quarantine.includes(skill.origin)
        ? { source, program: skill.folder, definition, hash: contentHash(definition), trusted: false }
        : undefined;
      return [
        skillDraft(skill, domain, route, origin),
        ...skill.files.map((file) => fileDraft(skill, file, domain, route, origin)),
      ];
    });
}

/** Only bundled skills can disable themselves: a person chose the installed ones. */
export function isEnabled({ origin, defaultEnabled, name }: Skill, enabled: readonly string[]): boolean {
  return defaultEnabled || origin !== "bundled" || enabled.includes(name);
}

function skillDraft(skill: Skill, domain: string, route: string, origin: Origin | undefined): EntryDraft {
  const { name, description, body, frontmatter, triggers } = skill;
  const others = skill.files.filter(({ path }) => path !== "SKILL.md");
  const text = [body.trim(), ...(others.length === 0 ? [] : [filesText(others, route)])].join("\n\n");
  return {
    ...BARE_ENTRY,
    kind: "skill",
    route,
    domain,
    name,
    description,
    phrases: [...triggers.keywords, ...triggers.verbs],
    content: body,
    metadata: factsOf(skill),
    manifest: {
      frontmatter,
      files: skill.files.map(({ path, size, digest }) => ({ path: encodePath(path), size, digest })),
    },
    ...(origin && { origin }),
    load: async () => text,
  };
}

function fileDraft(
  skill: Skill,
  file: SkillFile,
  domain: string,
  skillRoute: string,
  origin: Origin | undefined,
): EntryDraft {
  const route = `${skillRoute}/${encodePath(file.path)}`;
  const mimeType = MIME_TYPES.get(extname(file.path).slice(1).toLowerCase()) ?? "text/plain";
  const load: ReadableEntry["load"] = async (_params, { client }) => {
    const bytes =
      file.path === "SKILL.md" ? Buffer.from(skill.text) : await readListedFile(skill.folder, file);
    const text = textOfBytes(bytes);
    const content = text === undefined ? { blob: bytes.toString("base64") } : { text };
    client?.passOn?.({ contents: [{ uri: route, mimeType, ...content }] });
    return text ?? { mimeType, bytes: bytes.length, data: bytes.toString("base64") };
  };
  return {
    ...BARE_ENTRY,
    kind: "skill",
    route,
    domain,
    name: file.path,
    description: `A file of the skill ${skill.name}, ${file.size} bytes.`,
    visibility: "hidden",
    metadata: { mimeType },
    ...(origin && { origin: { ...origin, partOf: skillRoute } }),
    load,
  };
}

function filesText(files: readonly SkillFile[], route: string): string {
  const lines = files.map(({ path, size }) => `- ${route}/${encodePath(path)} (${size} bytes)`);
  return `Files of this skill, to be read with get:\n${lines.join("\n")}`;
}

/** Facts for filters. `allowed-tools` grants nothing. */
function factsOf(skill: Skill): Record<string, unknown> {
  const { license, compatibility, version, allowedTools, toolsets, scripts, origin, briefDescription } =
    skill;
  return {
    resource_type: "skill",
    origin,
    brief_description: briefDescription,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(version !== undefined && { version }),
    ...(allowedTools.length > 0 && { "allowed-tools": allowedTools }),
    ...(toolsets.length > 0 && { toolsets: toolsets.map(({ path, className }) => `${path}:${className}`) }),
    ...(scripts.length > 0 && { scripts }),
  };
}

/** Encodes a path for routes and addresses. */
function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

const MIME_TYPES = new Map(
  Object.entries({
    md: "text/markdown",
    markdown: "text/markdown",
    json: "application/json",
    yaml: "application/yaml",
    yml: "application/yaml",
    html: "text/html",
    css: "text/css",
    csv: "text/csv",
    svg: "image/svg+xml",
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    pdf: "application/pdf",
    js: "text/javascript",
    py: "text/x-python",
    sh: "text/x-shellscript",
  }),
);
