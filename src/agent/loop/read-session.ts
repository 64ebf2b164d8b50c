import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type ModelMessage, modelMessageSchema } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AgentEvent } from "./agent-event.ts";
import { closeHistory } from "./history.ts";
import { readStart } from "./project-files.ts";

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
  const messages: ModelMessage[] = [];
  let shown: ModelMessage[] = [];
  for (const { type, message, messages: count, summary, kept } of records) {
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
  return { messages: closeHistory(messages), shown: closeHistory(shown), events };
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
