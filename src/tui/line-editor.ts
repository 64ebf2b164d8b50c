import { boundaryBefore } from "../util/cut-text.ts";

/** The typed text, the cursor, and the history. */
export interface Draft {
  readonly text: string;
  readonly cursor: number;
  /** Lines sent before, oldest first. */
  readonly history: readonly string[];
  /** The place in the history; its length stands for the draft itself. */
  readonly place: number;
  /** The draft while the person walks through the history. */
  readonly kept: string;
}

export type Edit =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "replace"; readonly from: number; readonly text: string }
  | { readonly type: "backspace" | "delete" | "delete-word" | "delete-before" | "delete-after" }
  | { readonly type: "left" | "right" | "up" | "down" | "line-start" | "line-end" }
  | { readonly type: "sent" | "clear" };

const MOST_HISTORY = 500;
const MOST_DRAFT_CHARS = 1_000_000;
const CLUSTER_CHARS = 32;

export const EMPTY_DRAFT: Draft = { text: "", cursor: 0, history: [], place: 0, kept: "" };

/** Applies an edit to a draft. Pure. */
export function edit(draft: Draft, change: Edit): Draft {
  const { text, cursor } = draft;
  switch (change.type) {
    case "insert":
      return splice(draft, cursor, cursor, change.text);
    case "replace":
      return splice(draft, change.from, cursor, change.text);
    case "backspace":
      return splice(draft, before(text, cursor), cursor);
    case "delete":
      return splice(draft, cursor, after(text, cursor));
    case "delete-word":
      return splice(draft, wordStart(text, cursor), cursor);
    case "delete-before":
      return splice(draft, lineStart(text, cursor), cursor);
    case "delete-after":
      return splice(draft, cursor, lineEnd(text, cursor));
    case "left":
      return { ...draft, cursor: before(text, cursor) };
    case "right":
      return { ...draft, cursor: after(text, cursor) };
    case "line-start":
      return { ...draft, cursor: lineStart(text, cursor) };
    case "line-end":
      return { ...draft, cursor: lineEnd(text, cursor) };
    case "up":
      return lineStart(text, cursor) === 0 ? recall(draft, draft.place - 1) : moveLine(draft, -1);
    case "down":
      return lineEnd(text, cursor) === text.length ? recall(draft, draft.place + 1) : moveLine(draft, 1);
    case "sent":
      return remember(draft);
    case "clear":
      return { ...draft, text: "", cursor: 0, place: draft.history.length, kept: "" };
  }
}

function splice(draft: Draft, from: number, to: number, inserted = ""): Draft {
  const text = draft.text.slice(0, from) + inserted + draft.text.slice(to);
  if (text.length > MOST_DRAFT_CHARS) return draft;
  return { ...draft, text, cursor: from + inserted.length };
}

function recall(draft: Draft, place: number): Draft {
  const { history } = draft;
  if (place < 0 || place > history.length) return draft;
  const kept = draft.place === history.length ? draft.text : draft.kept;
  const text = history[place] ?? kept;
  return { ...draft, text, cursor: text.length, place, kept };
}

function remember({ text, history }: Draft): Draft {
  const known = text.trim() === "" || history.at(-1) === text ? history : [...history, text];
  const kept = known.slice(-MOST_HISTORY);
  return { ...EMPTY_DRAFT, history: kept, place: kept.length };
}

function moveLine(draft: Draft, by: -1 | 1): Draft {
  const { text, cursor } = draft;
  const start = lineStart(text, cursor);
  const target = by === -1 ? lineStart(text, start - 1) : lineEnd(text, cursor) + 1;
  const wanted = Math.min(target + (cursor - start), lineEnd(text, target));
  return { ...draft, cursor: wanted === text.length ? wanted : boundaryBefore(text, wanted) };
}

function lineStart(text: string, cursor: number): number {
  return cursor <= 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

function wordStart(text: string, cursor: number): number {
  let at = cursor;
  while (at > 0 && /\s/.test(text[at - 1]!)) at -= 1;
  while (at > 0 && !/\s/.test(text[at - 1]!)) at -= 1;
  return at;
}

function before(text: string, cursor: number): number {
  return cursor <= 1 ? 0 : boundaryBefore(text, cursor - 1);
}

/** The end of the grapheme that starts at the cursor. */
function after(text: string, cursor: number): number {
  const last = Math.min(text.length, cursor + CLUSTER_CHARS);
  for (let at = cursor + 1; at < last; at += 1) if (boundaryBefore(text, at) === at) return at;
  return last;
}
