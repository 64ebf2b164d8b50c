import { unveil } from "../session/working-memory.ts";
import { discloseSkills } from "../sources/markdown/skills/disclose-skills.ts";
import type { AgentOptions, SessionState } from "./agent.ts";

/** The part of the skills that one prompt gets. */
export interface PromptSkills {
  /** For the model's instructions. */
  readonly text: string;
  /** Names of the skills whose instructions are in the text. */
  readonly used?: readonly string[];
}

/** Chooses the skills for a prompt. Skills that are entries of the gateway can be read by their routes. */
export async function skillsFor(
  options: AgentOptions,
  session: SessionState,
  prompt: string,
): Promise<PromptSkills> {
  const { gateway, principal, skills = [], maxSkills, enabledSkills } = options;
  if (skills.length === 0) return { text: "" };
  const whose = principal ? { principal } : {};
  const { shown } = await gateway.view(whose);
  const routes = new Map(shown.flatMap(({ kind, name, route }) => (kind === "skill" ? [[name, route]] : [])));
  const domain = domainOf(routes.get(skills[0]!.name));
  session.handle = gateway.openSession({ resume: session.handle, ...whose });
  const memory = gateway.session(session.handle, whose);
  const names = new Map([...routes].map(([name, route]) => [route, name]));
  const read = memory.memory.usedTools.flatMap(({ name }) => names.get(name) ?? []).toReversed();
  const disclosed = discloseSkills(prompt, skills, {
    ...(maxSkills !== undefined && { maxSkills }),
    ...(enabledSkills && { enabled: enabledSkills }),
    recent: [...new Set([...read, ...session.recentSkills])],
    ...(domain !== undefined && { domain }),
  });
  const told = disclosed.skills.map(({ name }) => name);
  if (disclosed.tier === "full") {
    session.recentSkills = [...new Set([...told, ...session.recentSkills])];
    return { text: disclosed.text, used: told };
  }
  // The model was told the routes, so it gets the tool that reads them.
  const listed = told.flatMap((name) => routes.get(name) ?? []);
  if (listed.length > 0) memory.update((known) => unveil(known, listed));
  return { text: disclosed.text };
}

function domainOf(route: string | undefined): string | undefined {
  return route?.split("://", 1)[0];
}
