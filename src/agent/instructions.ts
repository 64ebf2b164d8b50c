import type { AgentOptions } from "./agent.ts";
import { readAgentsFile } from "./agents-file.ts";

/** The model's instructions, ordered from the most stable part to the most variable. */
export async function toInstructions(
  { instructions = "", folder }: AgentOptions,
  disclosed: string,
  skills: string,
): Promise<string> {
  const project = folder === undefined ? undefined : await readAgentsFile(folder);
  const parts = [
    instructions,
    disclosed,
    project ? `What the project tells its agents (${project.path}):\n${project.text}` : "",
    skills,
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}
