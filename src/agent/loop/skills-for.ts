import { join } from "node:path";
import { importModule } from "../../base/util/import-module.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { View } from "../../core/access/view.ts";
import type { AnyTool, DomainDefinition } from "../../core/nouns/definition.ts";
import { discloseSkills } from "../../sources/markdown/skills/disclose-skills.ts";
import type { Skill } from "../../sources/markdown/skills/skill.ts";
import { SKILLS_START } from "../context/count-context.ts";
import type { AgentOptions, SessionState } from "./agent.ts";

/** The text about skills that stands in the instructions. It is the same for every prompt, so that caches hold. */
export async function skillsText(options: AgentOptions): Promise<string> {
  const { gateway, principal, skills = [], enabledSkills, mode } = options;
  if (skills.length === 0) return "";
  const { ofName } = routesOf(await gateway.view(principal ? { principal } : {}));
  const how = howToRead(skills, ofName, mode);
  return discloseSkills("", skills, {
    ...(enabledSkills && { enabled: enabledSkills }),
    ...(how !== undefined && { how }),
  }).text;
}

/**
 * Chooses the skills for a prompt. Those that the conversation used last come first among equals. Returns the names of
 * the skills that the prompt calls for, and a note with those that the conversation does not have in full yet.
 */
export async function skillsFor(options: AgentOptions, session: SessionState, prompt: string) {
  const { gateway, principal, skills = [], maxSkills, enabledSkills } = options;
  if (skills.length === 0) return {};
  const whose = principal ? { principal } : {};
  const routes = routesOf(await gateway.view(whose));
  session.handle = await gateway.openSession({ resume: session.handle, ...whose });
  const { usedTools } = (await gateway.session(session.handle, whose)).memory;
  const read = usedTools.flatMap(({ name }) => routes.nameAt.get(name) ?? []).toReversed();
  const how = howToRead(skills, routes.ofName, options.mode);
  const rules = {
    ...(maxSkills !== undefined && { maxSkills }),
    ...(enabledSkills && { enabled: enabledSkills }),
    recent: [...new Set([...read, ...session.recentSkills])],
    ...(how !== undefined && { how }),
  };
  const disclosed = discloseSkills(prompt, skills, rules);
  if (disclosed.tier !== "full") {
    // A question about skills gets the whole list, unless the instructions have it.
    const isTold = disclosed.text === (await skillsText(options));
    return disclosed.tier === "registry" && !isTold ? { note: toNote(disclosed.text) } : {};
  }
  const used = disclosed.skills.map(({ name }) => name);
  session.recentSkills = [...new Set([...used, ...session.recentSkills])];
  const said = JSON.stringify(session.shown);
  const missing = disclosed.skills.filter(({ name }) => !said.includes(`# Skill: ${name} (`));
  if (missing.length === 0) return { used };
  return { used, note: toNote(discloseSkills(prompt, missing, rules).text) };
}

function toNote(text: string): string {
  return `${SKILLS_START}\n${text}`;
}

/** The skills that are entries of the gateway. */
function routesOf({ shown }: View) {
  const known = shown.filter(({ kind }) => kind === "skill").map(({ name, route }) => [name, route] as const);
  return { ofName: new Map(known), nameAt: new Map(known.map(([name, route]) => [route, name])) };
}

/** How the model gets a skill that it sees in a list; undefined unless all of them are in one domain. */
function howToRead(
  skills: readonly Skill[],
  ofName: ReadonlyMap<string, string>,
  mode: AgentOptions["mode"],
): string | undefined {
  const domains = new Set(skills.map(({ name }) => ofName.get(name)?.split("://", 1)[0]));
  const [domain] = domains;
  if (domains.size !== 1 || domain === undefined) return undefined;
  return mode === "fixed" ? `read at ${domain}://skills/NAME` : "to be found by name";
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
export async function loadSkillToolsets(skills: readonly Skill[]) {
  /** One sentence for each toolset that could not be loaded. */
  const refused: string[] = [];
  /** One domain for each skill, by its name. */
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
  const exported = await importModule(join(skill.folder, file));
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
