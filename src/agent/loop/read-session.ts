import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type ModelMessage, modelMessageSchema } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AgentEvent } from "./agent-event.ts";
import { closeHistory, hasEffects, INTERRUPTED, NOT_BEGUN } from "./history.ts";
import { readStart } from "./project-files.ts";
import type { CallProgress } from "./run-context.ts";

/** A stored conversation: messages and events, without large results. */
export interface StoredSession {
  readonly messages: readonly ModelMessage[];
  /** The part of the messages that the model sees: a summary stands for those before. */
  readonly shown: readonly ModelMessage[];
  readonly events: readonly AgentEvent[];
}

const MAX_BYTES = 256 * 2 ** 20;
const HEAD_BYTES = 64 * 1024;
const PROMPT_CHARS = 120;

/** Ids sort by creation time. */
export function createSessionId(): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return `${time}-${randomBytes(5).toString("hex")}`;
}

export function isSessionId(id: string): boolean {
  return /^\d{8}-\d{6}-[0-9a-f]{10}$/.test(id);
}

/** Reads the complete records of a file. Every call gets a result. */
export async function readSession(path: string, id: string): Promise<StoredSession> {
  const { size } = await stat(path).catch(() => {
    throw problem("SESSION_UNKNOWN", { id });
  });
  if (size > MAX_BYTES) throw problem("LIMIT_EXCEEDED", { what: path, actual: size, limit: MAX_BYTES });
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw problem("SESSION_UNKNOWN", { id: `${id} (${reasonOf(error)})` });
  });
  const records = recordsOf(text);
  const calls = new CallRecords();
  const messages: ModelMessage[] = [];
  let shown: ModelMessage[] = [];
  for (const record of records) {
    const { type, message, messages: count, summary, kept } = record;
    calls.note(record);
    const parsed = type === "message" ? modelMessageSchema.safeParse(message) : undefined;
    if (parsed?.success) {
      messages.push(parsed.data);
      shown.push(parsed.data);
    } else if (type === "rewound" && typeof count === "number") {
      const from = messages[count];
      const at = from ? shown.indexOf(from) : -1;
      messages.length = Math.min(messages.length, count);
      shown = at === -1 ? [...messages] : shown.slice(0, at);
    } else if (type === "compacted" && typeof summary === "string" && typeof kept === "number") {
      shown = [{ role: "user", content: summary }, ...(kept > 0 ? shown.slice(-kept) : [])];
    }
  }
  const events = records.flatMap(({ type, event }) => (type === "event" && event ? [event] : []));
  const close = (some: readonly ModelMessage[]) => closeHistory(some, (id) => calls.resultOf(id));
  return { messages: close(messages), shown: close(shown), events };
}

/** The state in which a killed process left the calls of its last step. */
class CallRecords {
  #tellsProgress = false;
  readonly #progress = new Map<unknown, CallProgress>();
  readonly #ended = new Map<unknown, boolean>();

  note({ type, version, message, id, progress, event }: SessionLine): void {
    // Earlier versions did not note how far a call had come.
    if (type === "session" || type === "session-resumed") this.#tellsProgress = Number(version) >= 2;
    if (message?.role === "assistant") {
      // Some models use the ids of earlier calls again.
      this.#progress.clear();
      this.#ended.clear();
    }
    if (type === "call") this.#progress.set(id, progress as CallProgress);
    if (type === "event" && event?.type === "tool-end") this.#ended.set(event.callId, event.ok);
  }

  resultOf(id: string): string {
    const ok = this.#ended.get(id);
    if (ok !== undefined)
      return `The call ${ok ? "succeeded" : "failed"}, but the program ended before its result was kept.`;
    return this.#tellsProgress && !hasEffects(this.#progress.get(id)) ? NOT_BEGUN : INTERRUPTED;
  }
}

/** Summarizes a conversation from the start of its file. */
export async function headOf(path: string): Promise<{ folder?: string; prompt?: string }> {
  const records = recordsOf((await readStart(path, HEAD_BYTES)) ?? "");
  const folder = records.find(({ type }) => type === "session")?.folder;
  const content = records.find(({ message }) => message?.role === "user")?.message?.content;
  const asked = Array.isArray(content) ? (content[0] as { text?: unknown } | undefined)?.text : content;
  return {
    ...(typeof folder === "string" && { folder }),
    ...(typeof asked === "string" && { prompt: asked.slice(0, PROMPT_CHARS) }),
  };
}

interface SessionLine {
  readonly type?: unknown;
  readonly folder?: unknown;
  readonly message?: { readonly role?: unknown; readonly content?: unknown } | undefined;
  readonly event?: AgentEvent;
  readonly version?: unknown;
  readonly id?: unknown;
  readonly progress?: unknown;
  readonly messages?: unknown;
  readonly summary?: unknown;
  readonly kept?: unknown;
}

/** Skips lines that a crash has cut. */
function recordsOf(text: string): SessionLine[] {
  return text.split("\n").flatMap((line) => {
    try {
      const record: unknown = JSON.parse(line);
      return typeof record === "object" && record !== null ? [record as SessionLine] : [];
    } catch {
      return [];
    }
  });
}
