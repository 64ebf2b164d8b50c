import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../../base/util/reason-of.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { type FileContent, loadFile } from "./file-content.ts";
import { FolderState } from "./folder-state.ts";

/** Remembers files as they were before each turn, so that a turn can be undone. */
export type Checkpoints = ReturnType<typeof createCheckpoints>;

const MOST_TURNS = 50;
const MOST_BYTES = 64 * 2 ** 20;

interface FileBefore {
  readonly before: FileContent | undefined;
  readonly after: string | undefined;
}

interface CheckpointTurn {
  readonly files: Map<string, FileBefore>;
  /** Whether a command ran that may have changed more than the files of the folder. */
  hasCommands: boolean;
  /** Files that commands may have changed without a note. */
  leftOut: number;
}

const NOTHING = "There is nothing to undo: no turn of this chat has changed a file.";
const BEYOND =
  "Commands ran in this turn: what they changed outside of the folder, in ignored files and beyond files stays.";

export function createCheckpoints(root: string) {
  const folder = new FolderState(root);
  let turns: CheckpointTurn[] = [];
  let commands = 0;
  /** Looks wait for each other, so that each compares with the one before. */
  let looking: Promise<unknown> = Promise.resolve();

  function shrink(): void {
    turns = turns.slice(-MOST_TURNS);
    const bytesOf = ({ files }: CheckpointTurn) =>
      [...files.values()].reduce((sum, { before }) => sum + (before?.bytes.length ?? 0), 0);
    while (turns.length > 1 && turns.reduce((sum, turn) => sum + bytesOf(turn), 0) > MOST_BYTES)
      turns.shift();
  }

  /** Notes a file before a tool changes it, and its hash afterwards; undefined if it is gone. */
  function note(path: string, before: FileContent | undefined, after: string | undefined): void {
    const files = turns.at(-1)?.files;
    files?.set(path, { before: files.has(path) ? files.get(path)!.before : before, after });
  }

  function look(): Promise<void> {
    const isDuring = commands > 0;
    const looked = looking.then(async () => {
      const changes = await folder.look();
      // Before the first command, changes are those of the person and of tools that note their own.
      if (!isDuring) return;
      for (const { path, before, after } of changes) note(path, before, after?.hash);
      const turn = turns.at(-1);
      if (turn) turn.leftOut = Math.max(turn.leftOut, folder.leftOut);
    });
    looking = looked.catch(() => {});
    return looked.catch(() => {});
  }

  async function restore(path: string, { before, after }: FileBefore): Promise<string> {
    const now = await loadFile(path);
    if (now?.hash !== after) return `Kept ${path}: it was changed since.`;
    if (before === undefined) {
      await rm(path, { force: true });
      return `Removed ${path}, which the turn had made.`;
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, before.bytes, before.mode);
    return `Restored ${path}.`;
  }

  return {
    begin: () => {
      const last = turns.at(-1);
      if (!last || last.files.size > 0 || last.hasCommands)
        turns.push({ files: new Map(), hasCommands: false, leftOut: 0 });
      shrink();
    },
    note,
    /** Notes the files of the folder that change while a command runs. A folder that cannot be read stops no command. */
    during: async <T>(command: () => Promise<T>): Promise<T> => {
      const turn = turns.at(-1);
      if (!turn) return command();
      turn.hasCommands = true;
      await look();
      commands += 1;
      try {
        return await command();
      } finally {
        await look();
        commands -= 1;
      }
    },
    /** Restores the files of the last turn that changed any. Returns a line for each. */
    undo: async (): Promise<{ lines: string[]; changed: boolean }> => {
      while (turns.length > 0 && turns.at(-1)!.files.size === 0) turns.pop();
      const turn = turns.pop();
      if (!turn) return { lines: [NOTHING], changed: false };
      const lines: string[] = [];
      for (const [path, noted] of turn.files) {
        lines.push(
          await restore(path, noted).catch((error: unknown) => `Not restored: ${path}: ${reasonOf(error)}`),
        );
      }
      if (turn.hasCommands) lines.push(BEYOND);
      if (turn.leftOut > 0)
        lines.push(
          `Files too large or too many to be kept: ${turn.leftOut}. Changes of commands in them stay.`,
        );
      return { lines, changed: true };
    },
  };
}
