import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../../base/util/reason-of.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { type FileContent, loadFile } from "./file-content.ts";
import { FolderState } from "./folder-state.ts";

/** Remembers files as they were before each turn, so that turns can be undone. */
export type Checkpoints = ReturnType<typeof createCheckpoints>;

const MOST_TURNS = 50;
const MOST_BYTES = 64 * 2 ** 20;

interface FileBefore {
  readonly before: FileContent | undefined;
  readonly after: string | undefined;
}

/** A place in a conversation: its id, and the messages before it. */
export interface ConversationPlace {
  readonly conversation: string;
  readonly messages: number;
}

interface CheckpointTurn {
  place: ConversationPlace;
  /** It goes on with the turn before, from a message that the person sent meanwhile. */
  readonly isPart: boolean;
  readonly files: Map<string, FileBefore>;
  /** Whether a command ran that may have changed more than the files of the folder. */
  hasCommands: boolean;
  /** Files that commands may have changed without a note. */
  leftOut: number;
}

const NOTHING = "There is nothing to undo: no turn of this chat has changed a file.";
const BEYOND =
  "Commands ran in this turn: what they changed outside of the folder, in ignored files and beyond files stays.";
const NO_PLACE: ConversationPlace = { conversation: "", messages: 0 };

export function createCheckpoints(root: string) {
  const folder = new FolderState(root);
  let turns: CheckpointTurn[] = [];
  /** The places of turns that are no longer kept. */
  const forgotten: ConversationPlace[] = [];
  let commands = 0;
  /** Looks wait for each other, so that each compares with the one before. */
  let looking: Promise<unknown> = Promise.resolve();

  function shrink(): void {
    const bytesOf = ({ files }: CheckpointTurn) =>
      [...files.values()].reduce((sum, { before }) => sum + (before?.bytes.length ?? 0), 0);
    const isTooMuch = () =>
      turns.length > MOST_TURNS || turns.reduce((sum, turn) => sum + bytesOf(turn), 0) > MOST_BYTES;
    while (turns.length > 1 && isTooMuch()) forgotten.push(turns.shift()!.place);
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

  /** The parts of the last turn that changed a file. */
  function lastTurn(): CheckpointTurn[] {
    const last = turns.findLastIndex(({ files }) => files.size > 0);
    const first = turns.findLastIndex(({ isPart }, at) => at <= last && !isPart);
    return turns.slice(Math.max(0, first), last + 1);
  }

  return {
    /** Begins a turn, or with `isPart` a part of the turn that goes on. */
    begin: (place: ConversationPlace = NO_PLACE, isPart = false) => {
      const last = turns.at(-1);
      if (!last || last.files.size > 0 || last.hasCommands)
        turns.push({ place, isPart, files: new Map(), hasCommands: false, leftOut: 0 });
      else last.place = place;
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
    /** The files that changed since a place of a conversation. */
    changedSince: (place: ConversationPlace): string[] => [
      ...new Set(turns.filter(isSince(place)).flatMap(({ files }) => [...files.keys()])),
    ],
    /** Restores the files of the last turn that changed any, or of all turns since a place. Returns a line for each. */
    undo: async (since?: ConversationPlace): Promise<{ lines: string[]; changed: boolean }> => {
      const undone = since ? turns.filter(isSince(since)) : lastTurn();
      if (!undone.some(({ files }) => files.size > 0)) return { lines: [NOTHING], changed: false };
      const last = turns.lastIndexOf(undone.at(-1)!);
      // Turns after it changed nothing.
      turns = turns.filter((turn, at) => !undone.includes(turn) && (since !== undefined || at < last));
      const lines: string[] = [];
      for (const [path, noted] of joined(undone)) {
        lines.push(
          await restore(path, noted).catch((error: unknown) => `Not restored: ${path}: ${reasonOf(error)}`),
        );
      }
      if (undone.some(({ hasCommands }) => hasCommands)) lines.push(BEYOND);
      const leftOut = Math.max(...undone.map((turn) => turn.leftOut));
      if (leftOut > 0)
        lines.push(`Files too large or too many to be kept: ${leftOut}. Changes of commands in them stay.`);
      if (since && forgotten.some((place) => isSince(since)({ place })))
        lines.push("The changes of the oldest turns are no longer kept, and stay.");
      return { lines, changed: true };
    },
  };
}

function isSince({ conversation, messages }: ConversationPlace) {
  return ({ place }: Pick<CheckpointTurn, "place">) =>
    place.conversation === conversation && place.messages >= messages;
}

/** The files of several turns as they were before the first, as far as nobody changed one between two turns. */
function joined(turns: readonly CheckpointTurn[]): Map<string, FileBefore> {
  const files = new Map<string, FileBefore>();
  for (const turn of turns.toReversed())
    for (const [path, { before, after }] of turn.files) {
      const later = files.get(path);
      if (!later) files.set(path, { before, after });
      else if (later.before?.hash === after) files.set(path, { before, after: later.after });
    }
  return files;
}
