import type { AgentOptions } from "./agent.ts";
import { readAgentsFile } from "./agents-file.ts";
import { type InstructionParts, joinTexts } from "./context/count-context.ts";

/** The model's instructions, ordered from the most stable part to the most variable. */
export async function toInstructions(
  { instructions = "", folder }: AgentOptions,
  disclosed: string,
  skills: string,
): Promise<InstructionParts> {
  const project = folder === undefined ? undefined : await readAgentsFile(folder);
  return {
    instructions: joinTexts(instructions, disclosed),
    project: project ? `What the project tells its agents (${project.path}):\n${project.text}` : "",
    skills,
  };
}
