import { type InstructionParts, joinTexts } from "../context/count-context.ts";
import type { AgentOptions } from "./agent.ts";
import { readAgentsFiles } from "./agents-files.ts";
import { skillsText } from "./skills-for.ts";

/** The model's instructions, ordered from the most stable part to the most variable. */
export async function toInstructions(options: AgentOptions, disclosed: string): Promise<InstructionParts> {
  const { instructions = "", folder, userFolder } = options;
  const files = await readAgentsFiles(folder, userFolder);
  return {
    instructions: joinTexts(instructions, disclosed),
    project: joinTexts(
      ...files.map(({ path, text }) => `Instructions of the person or the project (${path}):\n${text}`),
    ),
    skills: await skillsText(options),
  };
}
