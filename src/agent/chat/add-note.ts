import { constants, mkdir, open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { AGENTS_FILES, readAgentsFiles } from "../loop/agents-files.ts";
import { isInside } from "../permissions/sensitive-path.ts";
import type { Choice } from "../tui/chat-agent.ts";
import type { ChatParts } from "./chat-parts.ts";

/** The files that a note can go to: the one that the folder has, and the person's own. */
export async function noteFiles({ trusted }: Pick<ChatParts, "trusted">): Promise<Choice[]> {
  const folder = process.cwd();
  const inFolder = (await readAgentsFiles(folder)).find(({ path }) => dirname(path) === folder);
  const project = inFolder?.path ?? join(folder, AGENTS_FILES[0]);
  const hint = trusted ? "" : "; it counts once you trust the folder: /trust";
  return [
    { id: project, name: relative(folder, project), text: `of this project${hint}` },
    { id: join(homedir(), ".keyhole", AGENTS_FILES[0]), name: "~/.keyhole/AGENTS.md", text: "your own" },
  ];
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/**
 * Adds a note to the end of a file. Returns a sentence about it.
 *
 * @throws INVALID_INPUT for a link that leads out of its folder
 */
export async function addNote(path: string, note: string): Promise<string> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const real = await realpath(path).catch(() => path);
  if (real !== path && !isInside(real, await realpath(folder)))
    throw problem("INVALID_INPUT", { operation: "# note", reason: `${path} is a link out of its folder` });
  const file = await open(real, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
  try {
    const before = await file.readFile("utf8");
    const isWhole = before === "" || before.endsWith("\n");
    await file.appendFile(`${isWhole ? "" : "\n"}- ${note}\n`);
  } finally {
    await file.close();
  }
  return `Added to ${path}: ${note}`;
}
