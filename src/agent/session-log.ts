import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ModelMessage } from "ai";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { createRedact } from "../util/redact.ts";
import type { AgentEvent } from "./agent-event.ts";
import { createSessionId, headOf, isSessionId, readSession, type StoredSession } from "./read-session.ts";

/** One conversation on disk. */
export interface SessionLog {
  readonly id: string;
  message(message: ModelMessage): void;
  event(event: AgentEvent): void;
  /** Resolves when what was told is on disk; rejects when it is not, once. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionSummary {
  readonly id: string;
  /** When it was last written to. */
  readonly at: Date;
  readonly folder?: string;
  /** What it began with. */
  readonly prompt?: string;
}

/** The conversations in a folder, a file of JSON lines each. */
export interface SessionLogs {
  create(): SessionLog;
  /** A conversation as it was left. */
  resume(id: string): Promise<StoredSession & { readonly log: SessionLog }>;
  /** The latest first. */
  list(): Promise<SessionSummary[]>;
  /** The one of this project that was written to last. */
  latest(): Promise<string | undefined>;
}

export interface SessionLogsOptions {
  /** Where the files are. Made when it is needed, for its owner only. */
  readonly path: string;
  /** The project's folder: `latest` looks for its conversations. */
  readonly folder?: string;
  /** What must not be written, beside what is spelled as a secret. */
  readonly secrets?: readonly string[];
  /** Conversations that nobody has gone on with for so long are deleted when another begins. Default: never. */
  readonly maxAgeDays?: number;
}

const MAX_LISTED = 1_000;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Lines are appended as things happen and never changed; `settle`, which a run calls when it has ended, also
 * has them on disk. A line that a crash has cut is passed over when the file is read.
 */
export function createSessionLogs({
  path,
  folder,
  secrets = [],
  maxAgeDays = Number.POSITIVE_INFINITY,
}: SessionLogsOptions): SessionLogs {
  const redact = createRedact(secrets, { kinds: true });
  const fileOf = (id: string) => join(path, `${id}.jsonl`);

  function openLog(id: string, header: object | undefined): SessionLog {
    let file: Promise<FileHandle> | undefined;
    let writing = Promise.resolve();
    let failure: unknown;

    async function openFile(): Promise<FileHandle> {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const opened = await open(fileOf(id), "a", 0o600);
      // After a cut line, too, the next begins on one of its own.
      await opened.appendFile(header ? toLine(header) : "\n");
      return opened;
    }

    /** Never throws: what cannot be written is told by `settle`. */
    function append(record: object): void {
      file ??= openFile();
      const opened = file;
      // Spelled out now: what is told may change later.
      const line = Promise.try(toLine, record);
      writing = writing
        .then(async () => (await opened).appendFile(await line))
        .catch((error: unknown) => {
          failure ??= error;
        });
    }

    const toLine = (record: object) =>
      `${JSON.stringify(redact({ ...record, at: new Date().toISOString() }))}\n`;

    async function settle(): Promise<void> {
      await writing;
      await (await file?.catch(() => undefined))?.sync();
      const failed = failure;
      failure = undefined;
      if (failed !== undefined)
        throw problem("SESSION_NOT_KEPT", { path: fileOf(id), reason: reasonOf(failed) });
    }

    return {
      id,
      message: (message) => append({ type: "message", message }),
      event: (event) => append({ type: "event", event }),
      settle,
      close: async () => {
        await writing;
        await (await file?.catch(() => undefined))?.close();
        file = undefined;
      },
    };
  }

  /** What cannot be deleted stays, and nobody has to know. */
  async function sweep(): Promise<void> {
    const oldest = Date.now() - maxAgeDays * DAY_MS;
    for (const { id, at } of await dated()) {
      if (at.getTime() < oldest) await rm(fileOf(id), { force: true }).catch(() => {});
    }
  }

  async function dated(): Promise<{ id: string; at: Date }[]> {
    const names = await readdir(path).catch(() => []);
    const ids = names
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => name.slice(0, -".jsonl".length));
    const found = await Promise.all(
      ids.filter(isSessionId).map(async (id) => {
        const about = await stat(fileOf(id)).catch(() => undefined);
        return about?.isFile() ? [{ id, at: about.mtime }] : [];
      }),
    );
    return found.flat();
  }

  async function list(): Promise<SessionSummary[]> {
    const latest = (await dated()).sort((one, other) => other.at.getTime() - one.at.getTime());
    return Promise.all(
      latest.slice(0, MAX_LISTED).map(async (one) => ({ ...one, ...(await headOf(fileOf(one.id))) })),
    );
  }

  return {
    create: () => {
      if (Number.isFinite(maxAgeDays)) void sweep().catch(() => {});
      const id = createSessionId();
      return openLog(id, { type: "session", version: 1, id, ...(folder && { folder }) });
    },
    resume: async (id) => {
      if (!isSessionId(id)) throw problem("SESSION_UNKNOWN", { id: JSON.stringify(id.slice(0, 80)) });
      const stored = await readSession(fileOf(id), id);
      return { ...stored, log: openLog(id, undefined) };
    },
    list,
    latest: async () => (await list()).find((one) => one.folder === folder)?.id,
  };
}
