import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyTool, DomainDefinition } from "../schema/definition.ts";
import type { Skill } from "../sources/markdown/skills/skill.ts";
import { reasonOf } from "../util/reason-of.ts";

export interface SkillToolsets {
  /** One domain for each skill, by its name. */
  readonly domains: readonly DomainDefinition[];
  /** One sentence for each toolset that could not be loaded. */
  readonly refused: readonly string[];
}

interface Toolset {
  getTools(): readonly AnyTool[] | Promise<readonly AnyTool[]>;
}

/** A toolset may be named with or without the ending of its file. */
const ENDINGS = ["", ".ts", ".mts", ".js", ".mjs"];

/**
 * Loads the tools of skills. A toolset is a module in the skill's folder and runs with the user's rights, so pass
 * only skills of folders that a person trusts, or that a person has enabled by name. A toolset that fails does not affect the others.
 */
export async function loadSkillToolsets(skills: readonly Skill[]): Promise<SkillToolsets> {
  const refused: string[] = [];
  const domains: DomainDefinition[] = [];
  for (const skill of skills) {
    const tools: AnyTool[] = [];
    for (const { path, className } of skill.toolsets) {
      const loaded = await loadToolset(skill, path, className).catch(reasonOf);
      if (typeof loaded !== "string") tools.push(...loaded);
      else refused.push(`${skill.name}: the toolset ${path}:${className} was not loaded: ${loaded}`);
    }
    if (tools.length > 0) domains.push({ name: skill.name, description: skill.briefDescription, tools });
  }
  return { domains, refused };
}

/**
 * Loads the export of a toolset: a list of tools, a function that returns one, or a class with `getTools`. Returns
 * the tools, or the reason why there are none.
 */
async function loadToolset(
  skill: Skill,
  path: string,
  className: string,
): Promise<readonly AnyTool[] | string> {
  // The files were checked when the skill was read: no links, nothing outside its folder.
  const file = ENDINGS.map((ending) => path + ending).find((name) =>
    skill.files.some((listed) => listed.path === name),
  );
  if (file === undefined) return "the skill has no such file";
  const exported = (await import(pathToFileURL(join(skill.folder, file)).href)) as Record<string, unknown>;
  const given = Object.hasOwn(exported, className) ? exported[className] : undefined;
  const tools = await toTools(given);
  return Array.isArray(tools) ? tools : `${className} returns no list of tools`;
}

function toTools(given: unknown): unknown {
  if (typeof given !== "function") return given;
  const prototype: unknown = given.prototype;
  if (prototype && typeof (prototype as Partial<Toolset>).getTools === "function") {
    return new (given as new () => Toolset)().getTools();
  }
  return (given as () => unknown)();
}
