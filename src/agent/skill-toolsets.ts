import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyTool, DomainDefinition } from "../schema/definition.ts";
import type { Skill } from "../sources/markdown/skills/skill.ts";
import { reasonOf } from "../util/reason-of.ts";

export interface SkillToolsets {
  /** One a skill, by its name. */
  readonly domains: readonly DomainDefinition[];
  /** What could not be loaded, one sentence each. */
  readonly refused: readonly string[];
}

interface Toolset {
  getTools(): readonly AnyTool[] | Promise<readonly AnyTool[]>;
}

/**
 * The tools of skills. A toolset is a module in the skill's folder, and its code runs as the user's own: give
 * only skills that a person has enabled by name. A toolset that fails takes only itself along.
 */
export async function loadSkillToolsets(skills: readonly Skill[]): Promise<SkillToolsets> {
  const refused: string[] = [];
  const domains: DomainDefinition[] = [];
  for (const skill of skills) {
    const tools: AnyTool[] = [];
    for (const { path, className } of skill.toolsets) {
      const loaded = await loadToolset(skill, path, className).catch(reasonOf);
      if (typeof loaded !== "string") tools.push(...loaded);
      else refused.push(`${skill.name}: the toolset ${path}:${className} is not used: ${loaded}`);
    }
    if (tools.length > 0) domains.push({ name: skill.name, description: skill.briefDescription, tools });
  }
  return { domains, refused };
}

/**
 * What is exported is a list of tools, a function that gives one, or a class with `getTools`. The answer is the
 * tools, or why there are none.
 */
async function loadToolset(
  skill: Skill,
  path: string,
  className: string,
): Promise<readonly AnyTool[] | string> {
  // The files of a skill were checked when it was read: no links, nothing outside of it.
  if (!skill.files.some((file) => file.path === path)) return "the skill has no such file";
  const exported = (await import(pathToFileURL(join(skill.folder, path)).href)) as Record<string, unknown>;
  const given = Object.hasOwn(exported, className) ? exported[className] : undefined;
  const tools = await toTools(given);
  return Array.isArray(tools) ? tools : `${className} gives no list of tools`;
}

function toTools(given: unknown): unknown {
  if (typeof given !== "function") return given;
  const prototype: unknown = given.prototype;
  if (prototype && typeof (prototype as Partial<Toolset>).getTools === "function") {
    return new (given as new () => Toolset)().getTools();
  }
  return (given as () => unknown)();
}
