import type { AgentOptions } from "./agent.ts";
import { readAgentsFiles } from "./agents-file.ts";
import { type InstructionParts, joinTexts } from "./context/count-context.ts";

/** The model's instructions, ordered from the most stable part to the most variable. */
export async function toInstructions(
  { instructions = "", folder, userFolder }: AgentOptions,
  disclosed: string,
  skills: string,
): Promise<InstructionParts> {
  const files = await readAgentsFiles({ project: folder, user: userFolder });
  return {
    instructions: joinTexts(instructions, disclosed),
    project: joinTexts(
      ...files.map(({ path, text }) => `Instructions of the person or the project (${path}):\n${text}`),
    ),
    skills,
  };
}
