import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../../util/reason-of.ts";
import { type FileContent, loadFile } from "./file-content.ts";

/** Remembers files as they were before each turn, so that a turn can be undone. */
export interface Checkpoints {
  /** Starts a turn. */
  begin(): void;
  /** Notes a file before a tool changes it, and its hash afterwards; undefined if it is gone. */
  note(path: string, before: FileContent | undefined, after: string | undefined): void;
  /** Restores the files of the last turn that changed any. Returns a line for each. */
  undo(): Promise<string[]>;
}

const MOST_TURNS = 50;
const MOST_BYTES = 64 * 2 ** 20;

interface Noted {
  readonly before: FileContent | undefined;
  readonly after: string | undefined;
}

/** Changes by commands are not noted: nobody knows which files a program touches. */
export function createCheckpoints(): Checkpoints {
  let turns: Map<string, Noted>[] = [];

  function shrink(): void {
    turns = turns.slice(-MOST_TURNS);
    const bytesOf = (turn: Map<string, Noted>) =>
      [...turn.values()].reduce((sum, { before }) => sum + (before?.bytes.length ?? 0), 0);
    while (turns.length > 1 && turns.reduce((sum, turn) => sum + bytesOf(turn), 0) > MOST_BYTES)
      turns.shift();
  }

  async function restore(path: string, { before, after }: Noted): Promise<string> {
    const now = await loadFile(path);
    if (now?.hash !== after) return `Kept ${path}: it was changed since.`;
    if (before === undefined) {
      await rm(path, { force: true });
      return `Removed ${path}, which the turn had made.`;
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, before.bytes);
    await chmod(path, before.mode);
    return `Restored ${path}.`;
  }

  return {
    begin: () => {
      if (turns.at(-1)?.size !== 0) turns.push(new Map());
      shrink();
    },
    note: (path, before, after) => {
      const turn = turns.at(-1);
      turn?.set(path, { before: turn.has(path) ? turn.get(path)!.before : before, after });
    },
    undo: async () => {
      while (turns.length > 0 && turns.at(-1)!.size === 0) turns.pop();
      const turn = turns.pop();
      if (!turn) return ["There is nothing to undo: no turn of this chat has changed a file by its tools."];
      const lines: string[] = [];
      for (const [path, noted] of turn) {
        lines.push(
          await restore(path, noted).catch((error: unknown) => `Not restored: ${path}: ${reasonOf(error)}`),
        );
      }
      return lines;
    },
  };
}
