import type { Key } from "ink";
import { useCallback, useRef, useState } from "react";
import { boundaryBefore } from "../../base/util/cut-text.ts";

/** The typed text, the cursor, and the history. */
export interface InputDraft {
  readonly text: string;
  readonly cursor: number;
  /** Lines sent before, oldest first. */
  readonly history: readonly string[];
  /** The place in the history; its length stands for the draft itself. */
  readonly place: number;
  /** The draft while the person walks through the history. */
  readonly unsent: string;
}

export type LineEdit =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "replace"; readonly from: number; readonly text: string }
  | { readonly type: "set"; readonly text: string }
  | { readonly type: "backspace" | "delete" | "delete-word" | "delete-before" | "delete-after" }
  | { readonly type: "word-left" | "word-right" }
  | { readonly type: "left" | "right" | "up" | "down" | "line-start" | "line-end" }
  | { readonly type: "sent" | "clear" };

const MOST_HISTORY = 500;
const MOST_DRAFT_CHARS = 1_000_000;
const CLUSTER_CHARS = 32;

export const EMPTY_DRAFT: InputDraft = { text: "", cursor: 0, history: [], place: 0, unsent: "" };

/** Applies an edit to a draft. Pure. */
export function edit(draft: InputDraft, change: LineEdit): InputDraft {
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
    case "word-left":
      return { ...draft, cursor: wordStart(text, cursor) };
    case "word-right":
      return { ...draft, cursor: wordEnd(text, cursor) };
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
      return { ...draft, text: "", cursor: 0, place: draft.history.length, unsent: "" };
    case "set":
      return edit(edit(draft, { type: "clear" }), { type: "insert", text: typedText(change.text) });
  }
}

function splice(draft: InputDraft, from: number, to: number, inserted = ""): InputDraft {
  const text = draft.text.slice(0, from) + inserted + draft.text.slice(to);
  if (text.length > MOST_DRAFT_CHARS) return draft;
  return { ...draft, text, cursor: from + inserted.length };
}

function recall(draft: InputDraft, place: number): InputDraft {
  const { history } = draft;
  if (place < 0 || place > history.length) return draft;
  const unsent = draft.place === history.length ? draft.text : draft.unsent;
  const text = history[place] ?? unsent;
  return { ...draft, text, cursor: text.length, place, unsent };
}

function remember({ text, history }: InputDraft): InputDraft {
  const isNew = text.trim() !== "" && history.at(-1) !== text;
  const lines = [...history, ...(isNew ? [text] : [])].slice(-MOST_HISTORY);
  return { ...EMPTY_DRAFT, history: lines, place: lines.length };
}

function moveLine(draft: InputDraft, by: -1 | 1): InputDraft {
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

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
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

const KEY_EDITS = {
  leftArrow: { type: "left" },
  rightArrow: { type: "right" },
  upArrow: { type: "up" },
  downArrow: { type: "down" },
  home: { type: "line-start" },
  end: { type: "line-end" },
  delete: { type: "delete" },
} as const satisfies Partial<Record<keyof Key, LineEdit>>;

const CTRL_EDITS: Readonly<Record<string, LineEdit>> = {
  a: { type: "line-start" },
  e: { type: "line-end" },
  u: { type: "delete-before" },
  k: { type: "delete-after" },
  w: { type: "delete-word" },
  d: { type: "delete" },
  j: { type: "insert", text: "\n" },
};

/** The edit that a key makes; undefined if the key does not edit the draft. */
export function keyToEdit(input: string, key: Partial<Key>): LineEdit | undefined {
  const isByWord = key.meta || key.ctrl;
  if (isByWord && (key.leftArrow || (key.meta && input === "b"))) return { type: "word-left" };
  if (isByWord && (key.rightArrow || (key.meta && input === "f"))) return { type: "word-right" };
  if (key.backspace) return { type: key.meta ? "delete-word" : "backspace" };
  for (const [name, edit] of Object.entries(KEY_EDITS)) if (key[name as keyof typeof KEY_EDITS]) return edit;
  if (key.ctrl) return CTRL_EDITS[input];
  if (key.escape || key.tab || key.return || key.meta) return undefined;
  const text = typedText(input);
  return text === "" ? undefined : { type: "insert", text };
}

/** The keys of an input one by one: over a slow line they arrive together. Lines that are no last Enter were pasted. */
export function keysOf(input: string): readonly (readonly [input: string, key: Partial<Key>])[] {
  const wasPasted = input.slice(0, -1).includes("\r");
  if (input.length < 2 || wasPasted) return [[input, {}]];
  const parts = input.split(/((?![\t\n\r])\p{Cc}|[\t\r]$)/u).filter(Boolean);
  return parts.map((part) => {
    if (part === "\r") return ["", { return: true }];
    if (part === "\t") return ["", { tab: true }];
    const isControl = /^(?!\n)\p{Cc}$/u.test(part);
    return isControl ? [String.fromCharCode(96 + part.charCodeAt(0)), { ctrl: true }] : [part, {}];
  });
}

/** Removes characters that would move the cursor from typed or pasted text. */
export function typedText(input: string): string {
  return input.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}

export type DraftState = ReturnType<typeof useDraft>;

/** The draft of the input, with the lines sent before. */
export function useDraft(history: readonly string[]) {
  const draft = useLatest<InputDraft>({ ...EMPTY_DRAFT, history, place: history.length });
  return { ...draft, change: (next: LineEdit) => draft.set(edit(draft.latest(), next)) };
}

/** State for drawing (`shown`), and for keys, which can arrive before the screen is drawn again (`latest`). */
export function useLatest<T>(initial: T) {
  const [shown, show] = useState(initial);
  const value = useRef(shown);
  const set = useCallback((next: T) => {
    value.current = next;
    show(next);
  }, []);
  return { shown, latest: () => value.current, set };
}
