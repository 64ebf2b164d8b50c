import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { type InstructionParts, joinTexts } from "../context/count-context.ts";
import type { AgentOptions } from "./agent.ts";
import { projectFolders, readStart } from "./project-files.ts";
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

/** The first of these that a folder has counts. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];
const MAX_BYTES = 32 * 1024;

/** Instructions for agents that a person or a project keeps in a file. */
interface AgentsFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Reads the first 32 KB of each AGENTS.md: the person's own, then those from the root of the repository down to the
 * folder, so that the nearest comes last. A folder without one may have a CLAUDE.md. Only regular files inside the
 * project count: a link that leads out could show a model any file of the person.
 */
export async function readAgentsFiles(
  project: string | undefined,
  user?: string | undefined,
): Promise<AgentsFile[]> {
  const folders = project === undefined ? [] : await projectFolders(project);
  const root = folders.at(-1);
  const own = user === undefined ? undefined : await readFirst(user, user);
  const found = await Promise.all(folders.toReversed().map((folder) => readFirst(folder, root!)));
  return [own, ...found].filter((file) => file !== undefined);
}

async function readFirst(folder: string, root: string): Promise<AgentsFile | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    const text = await readInside(path, root);
    if (text !== undefined && text.trim() !== "") return { path, text: toVisibleText(text) };
  }
  return undefined;
}

async function readInside(path: string, root: string): Promise<string | undefined> {
  try {
    const [real, inside] = await Promise.all([realpath(path), realpath(root)]);
    if (!real.startsWith(inside.endsWith(sep) ? inside : inside + sep)) return undefined;
    return await readStart(real, MAX_BYTES);
  } catch {
    return undefined;
  }
}
