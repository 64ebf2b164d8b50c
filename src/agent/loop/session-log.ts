import { rmSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ModelMessage } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { hideFromRecords } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { holdLock } from "../../core/audit/chain-writer.ts";
import type { AgentEvent } from "./agent-event.ts";
import { createSessionId, headOf, isSessionId, readSession, type StoredSession } from "./read-session.ts";

/** The log of one conversation. */
export interface SessionLog {
  readonly id: string;
  message(message: ModelMessage): void;
  event(event: AgentEvent): void;
  /** Notes how far a call has come. Resolves when that is written. */
  call(id: string, progress: "runs" | "waits" | "allowed"): Promise<void>;
  /** Notes that a summary stands for all messages but the last `kept`. */
  compacted(record: { readonly summary: string; readonly kept: number }): void;
  /** Notes that only this many messages still count. */
  rewound(messages: number): void;
  /** Resolves when everything is on disk. Rejects once with SESSION_NOT_KEPT if writing failed. */
  settle(): Promise<void>;
  /** Logs the end of the session with its duration, and closes the file. */
  close(): Promise<void>;
}

/** A conversation in a list. */
export interface SessionSummary {
  readonly id: string;
  /** The time of the last write. */
  readonly at: Date;
  readonly folder?: string;
  /** The first prompt. */
  readonly prompt?: string;
  /** The title that a person gave it. */
  readonly title?: string;
}

/** Conversations in a folder, each in a file of JSON lines. */
export interface SessionLogs {
  create(): SessionLog;
  /** Reads a conversation and opens it for writing. Rejects with SESSION_IN_USE if another process has it open. */
  resume(id: string): Promise<StoredSession & { readonly log: SessionLog }>;
  /** Gives a conversation a title. */
  rename(id: string, title: string): Promise<void>;
  /** Lists conversations, the latest first. */
  list(): Promise<SessionSummary[]>;
  /** The id of this project's latest conversation. */
  latest(): Promise<string | undefined>;
}

/** Options of {@link createSessionLogs}. */
export interface SessionLogsOptions {
  /** The folder of the files, created when needed and readable by its owner only. */
  readonly path: string;
  /** The project's folder, for `latest`. */
  readonly folder?: string;
  /** Secrets to remove, beside those of the configuration and texts that look like secrets. */
  readonly secrets?: readonly string[];
  /** Deletes conversations unused for longer, when a new one starts. Default: never. */
  readonly maxAgeDays?: number;
}

const MAX_LISTED = 1_000;
const MAX_TITLE_CHARS = 200;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Creates a store of conversations. Lines are only appended; `settle`, which every run calls at its end, syncs them
 * to disk. Readers skip a line that a crash has cut. See {@link createAgent}.
 *
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createAgent, createSessionLogs, run } from "keyhole/agent";
 * import { createScriptedModel } from "keyhole/testing";
 *
 * const gateway = createGateway({ domains: [] });
 * const model = createScriptedModel([{ text: "Two tests fail." }]);
 * const sessions = createSessionLogs({ path: "conversations" });
 * for await (const _ of run(createAgent({ gateway, model, sessions }), "Which tests fail?"));
 * const [last] = await sessions.list();
 * console.assert(last?.prompt === "Which tests fail?");
 * await gateway.close();
 * ```
 */
export function createSessionLogs({
  path,
  folder,
  secrets = [],
  maxAgeDays = Number.POSITIVE_INFINITY,
}: SessionLogsOptions): SessionLogs {
  const redact = createRedact(secrets, { kinds: true });
  const fileOf = (id: string) => join(path, `${id}.jsonl`);
  const titleFile = (id: string) => join(path, `${id}.title`);

  const openLog = (id: string, header?: object) => openSessionLog(id, fileOf(id), redact, header);

  /** Ignores files that cannot be deleted. */
  async function sweep(): Promise<void> {
    const oldest = Date.now() - maxAgeDays * DAY_MS;
    for (const { id, at } of await dated()) {
      if (at.getTime() >= oldest) continue;
      for (const file of [fileOf(id), titleFile(id)]) await rm(file, { force: true }).catch(() => {});
    }
  }

  async function dated(): Promise<{ id: string; at: Date }[]> {
    const names = await readdir(path).catch(() => []);
    const ids = names.filter((name) => name.endsWith(".jsonl")).map((name) => basename(name, ".jsonl"));
    const found = await Promise.all(
      ids.filter(isSessionId).map(async (id) => {
        const about = await stat(fileOf(id)).catch(() => undefined);
        return about?.isFile() ? [{ id, at: about.mtime }] : [];
      }),
    );
    return found.flat();
  }

  async function titleOf(id: string): Promise<{ title?: string }> {
    const title = await readFile(titleFile(id), "utf8").catch(() => "");
    return title === "" ? {} : { title };
  }

  async function list(): Promise<SessionSummary[]> {
    const latest = (await dated()).sort((one, other) => other.at.getTime() - one.at.getTime());
    return Promise.all(
      latest.slice(0, MAX_LISTED).map(async (one) => ({
        ...one,
        ...(await headOf(fileOf(one.id))),
        ...(await titleOf(one.id)),
      })),
    );
  }

  return {
    create: () => {
      if (Number.isFinite(maxAgeDays)) void sweep().catch(() => {});
      const id = createSessionId();
      return openLog(id, { type: "session", version: 2, id, ...(folder && { folder }) });
    },
    resume: async (id) => {
      checkId(id);
      const stored = await readSession(fileOf(id), id);
      if (!lockSession(fileOf(id))) throw problem("SESSION_IN_USE", { id });
      return { ...stored, log: openLog(id) };
    },
    list,
    rename: async (id, title) => {
      checkId(id);
      await mkdir(path, { recursive: true, mode: 0o700 });
      const kept = redact(hideFromRecords(title.slice(0, MAX_TITLE_CHARS)));
      await writeFileAtomic(titleFile(id), kept, 0o600);
    },
    latest: async () => (await list()).find((one) => one.folder === folder)?.id,
  };
}

function checkId(id: string): void {
  if (!isSessionId(id)) throw problem("SESSION_UNKNOWN", { id: JSON.stringify(id.slice(0, 80)) });
}

/** Opens the file with its first line: the header of a new conversation, or a note that it was resumed. */
function openSessionLog(
  id: string,
  path: string,
  redact: <T>(value: T) => T,
  header: object | undefined,
): SessionLog {
  let file: Promise<FileHandle> | undefined;
  let writing = Promise.resolve();
  let failure: unknown;
  let isCut = false;
  const started = performance.now();

  async function openFile(): Promise<FileHandle> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    lockSession(path);
    const opened = await open(path, "a", 0o600);
    try {
      // Start on a new line even after a cut one.
      await opened.appendFile(
        header ? toLine(header) : `\n${toLine({ type: "session-resumed", version: 2 })}`,
      );
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  const lineOf = async (record: object) => toLine(record);

  /** Never throws; `settle` reports failures. */
  function append(record: object): void {
    // Serialize now, because the value may change later.
    const line = lineOf(record);
    writing = writing
      .then(async () => write(await line))
      .catch((error: unknown) => {
        failure ??= error;
      });
  }

  async function write(line: string): Promise<void> {
    file ??= openFile();
    const opened = await file.catch((error: unknown) => {
      file = undefined;
      throw error;
    });
    // A write that failed may have left half a line.
    const start = isCut ? "\n" : "";
    isCut = true;
    await opened.appendFile(`${start}${line}`);
    isCut = false;
  }

  const toLine = (record: object) =>
    `${JSON.stringify(redact(hideFromRecords({ ...record, at: new Date().toISOString() })))}\n`;

  async function settle(): Promise<void> {
    await writing;
    const opened = await file?.catch(() => undefined);
    await opened?.sync().catch((error: unknown) => {
      failure ??= error;
    });
    const failed = failure;
    failure = undefined;
    if (failed !== undefined) throw problem("SESSION_NOT_KEPT", { path: path, reason: reasonOf(failed) });
  }

  return {
    id,
    message: (message) => append({ type: "message", message }),
    event: (event) => append({ type: "event", event }),
    call: (id, progress) => {
      append({ type: "call", id, progress });
      return writing;
    },
    rewound: (messages) => append({ type: "rewound", messages }),
    compacted: (record) => append({ type: "compacted", ...record }),
    settle,
    close: async () => {
      if (file) append({ type: "session-end", durationMs: Math.round(performance.now() - started) });
      await writing;
      await (await file?.catch(() => undefined))?.close();
      file = undefined;
      unlockSession(path);
    },
  };
}

/** Locks of this process by path. A conversation that is resumed here again keeps its lock. */
const held = new Map<string, () => void>();

/** Keeps other processes away from a conversation's file. Returns false if another process has it open. */
function lockSession(path: string): boolean {
  const lock = `${path}.lock`;
  if (held.has(lock)) return true;
  try {
    const release = holdLock(lock);
    if (!release) return false;
    held.set(lock, release);
  } catch {
    // A folder that cannot be written needs no lock.
  }
  return true;
}

function unlockSession(path: string): void {
  const lock = `${path}.lock`;
  const release = held.get(lock);
  if (!release) return;
  held.delete(lock);
  release();
  rmSync(lock, { force: true });
}
