import type { View } from "../access/view.ts";
import { discloseSkills } from "../sources/markdown/skills/disclose-skills.ts";
import type { Skill } from "../sources/markdown/skills/skill.ts";
import type { AgentOptions, SessionState } from "./agent.ts";

/** The part of the skills that one prompt gets. */
export interface PromptSkills {
  /** For the model's instructions. */
  readonly text: string;
  /** Names of the skills whose instructions are in the text. */
  readonly used?: readonly string[];
}

/** Chooses the skills for a prompt. Those that the conversation used last come first among equals. */
export async function skillsFor(
  options: AgentOptions,
  session: SessionState,
  prompt: string,
): Promise<PromptSkills> {
  const { gateway, principal, skills = [], maxSkills, enabledSkills } = options;
  if (skills.length === 0) return { text: "" };
  const whose = principal ? { principal } : {};
  const routes = routesOf(await gateway.view(whose));
  session.handle = await gateway.openSession({ resume: session.handle, ...whose });
  const { usedTools } = (await gateway.session(session.handle, whose)).memory;
  const read = usedTools.flatMap(({ name }) => routes.nameAt.get(name) ?? []).toReversed();
  const how = howToRead(skills, routes.ofName, options.mode);
  const {
    tier,
    text,
    skills: told,
  } = discloseSkills(prompt, skills, {
    ...(maxSkills !== undefined && { maxSkills }),
    ...(enabledSkills && { enabled: enabledSkills }),
    recent: [...new Set([...read, ...session.recentSkills])],
    ...(how !== undefined && { how }),
  });
  if (tier !== "full") return { text };
  const used = told.map(({ name }) => name);
  session.recentSkills = [...new Set([...used, ...session.recentSkills])];
  return { text, used };
}

interface SkillRoutes {
  readonly ofName: ReadonlyMap<string, string>;
  readonly nameAt: ReadonlyMap<string, string>;
}

/** The skills that are entries of the gateway. */
function routesOf({ shown }: View): SkillRoutes {
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
