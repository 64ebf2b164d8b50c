import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { type Key, Text, useInput, usePaste } from "ink";
import { createElement as h, type ReactNode, useState } from "react";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { count } from "./block-text.ts";
import type { CustomCommand } from "./chat-agent.ts";
import type { QueuedMessage } from "./chat-state.ts";
import { COMMANDS, type SlashCommand } from "./commands.ts";
import {
  type DraftState,
  type InputDraft,
  keysOf,
  keyToEdit,
  type LineEdit,
  typedText,
  useLatest,
} from "./line-editor.ts";
import { matchFiles, mentionAt, toMention } from "./mentions.ts";
import { linesAround } from "./pick-list.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard } from "./wrap-text.ts";

/** Marks the cursor while lines are wrapped. Typed text cannot contain it. */
const CURSOR = "\u0001";

export interface InputBoxProps {
  readonly draft: DraftState;
  readonly columns: number;
  /** Most lines of the draft to show. */
  readonly lines: number;
  readonly files: readonly string[];
  /** Whether nothing runs. During a run, Alt-Enter sends for its end, and Alt-Up takes back. */
  readonly ready: boolean;
  /** Commands beside the chat's own. */
  readonly commands: readonly CustomCommand[];
  onEscape(): void;
  readonly takesPastes: boolean;
  /** Whether another part of the screen takes a key. */
  isTaken(input: string, key: Key): boolean;
  /** Sends a draft. The screen shows long pastes of it as the draft does. */
  onSubmit(text: string, shown: string, when: QueuedMessage["when"]): void;
  /** Takes the last message back that waits. */
  onTakeBack(): string | undefined;
  onType(): void;
  onLeave(): void;
}

/** The input: several lines, history, paste and completion. */
export function InputBox(props: InputBoxProps): ReactNode {
  const { columns, lines, files, ready, draft } = props;
  const [pastes] = useState(createFoldedPastes);
  const { change } = draft;
  const chosen = useLatest<ChosenCompletion>({ of: "", at: NONE });
  const completions = complete(draft.shown, files, props.commands);
  const { at, isClosed = false } = chosenIn(draft.shown, chosen.shown);

  /** The completions of the draft and the chosen one, also if the screen is not drawn yet. */
  function latestList() {
    const now = draft.latest();
    const place = chosenIn(now, chosen.latest());
    return { ...place, of: now.text, list: place.isClosed ? [] : complete(now, files, props.commands) };
  }

  /** Takes a key for the list of completions. Returns whether it did. */
  function takeByList(key: Key): boolean {
    const { of, at, list } = latestList();
    const next = at + (key.downArrow ? 1 : key.upArrow ? -1 : 0);
    if (key.meta || key.shift || list.length === 0) return false;
    if (key.escape && (ready || at !== NONE)) chosen.set({ of, at: NONE, isClosed: true });
    else if (next !== at && next >= NONE && next < list.length) chosen.set({ of, at: next });
    else if (key.tab) change(list[Math.max(at, 0)]!.edit);
    else if (key.return && at !== NONE) {
      change(list[at]!.edit);
      if (list[at]!.isCommand) enter();
    } else return next !== at && at !== NONE;
    return true;
  }

  function enter(when: QueuedMessage["when"] = "step"): void {
    const { text, cursor } = draft.latest();
    if (text[cursor - 1] === "\\") change({ type: "replace", from: cursor - 1, text: "\n" });
    else if (text.trim() !== "") {
      change({ type: "sent" });
      props.onSubmit(pastes.unfold(text), text, when);
    }
  }

  function takeKey(input: string, key: Key) {
    if (props.isTaken(input, key)) return;
    const { text } = draft.latest();
    if (key.ctrl && input === "c") {
      if (text !== "" && ready) change({ type: "clear" });
      return;
    }
    if (takeByList(key)) return props.onType();
    if (key.escape) return props.onEscape();
    if ((key.tab && key.shift) || (key.ctrl && /[gortv]/.test(input))) return;
    props.onType();
    if (key.ctrl && input === "d" && text === "") props.onLeave();
    else if (key.return && key.meta && !ready) enter("end");
    else if (key.return && (key.meta || key.shift)) change({ type: "insert", text: "\n" });
    else if (key.upArrow && key.meta) putFirst(draft, props.onTakeBack());
    else if (key.return) enter();
    else {
      const next = keyToEdit(input, key);
      if (next) change(next);
    }
  }
  useInput((input, key) => {
    for (const [one, pressed] of keysOf(input)) takeKey(one, { ...key, ...pressed });
  });
  usePaste(
    (text) => {
      props.onType();
      const image = pastedImage(text);
      change({ type: "insert", text: image === undefined ? pastes.fold(typedText(text)) : `${image} ` });
    },
    { isActive: props.takesPastes },
  );

  return column(
    { marginTop: 1 },
    toLines(draft.shown, columns - 2, lines).map(({ key, mark, before, under, after }) =>
      h(
        Text,
        { key },
        h(Text, { bold: true, ...colour("cyan") }, mark),
        before,
        h(Text, { inverse: true }, under),
        after,
      ),
    ),
    linesAround(isClosed ? [] : completions, Math.max(at, 0), MOST_SHOWN).map(
      ({ line: { label }, at: index }) =>
        h(
          Text,
          { key: label, wrap: "truncate", dimColor: index !== Math.max(at, 0) },
          `${index === at ? "›" : " "} ${toVisibleText(label, 200)}`,
        ),
    ),
  );
}

/** Puts a message that was taken back before the text of the draft. */
export function putFirst({ latest, change }: DraftState, message: string | undefined): void {
  if (message === undefined) return;
  const { text } = latest();
  change({ type: "set", text: text === "" ? message : `${message}\n${text}` });
}

/** As many lines around the cursor as fit, with the character under the cursor apart. */
function toLines({ text, cursor }: InputDraft, columns: number, most: number) {
  const shown = `${text.slice(0, cursor)}${CURSOR}${text.slice(cursor)}`;
  // One cell is reserved for a cursor at the end of a line; the mark itself counts as two.
  const lines = wrapHard(shown, columns - 3);
  const place = lines.findIndex((line) => line.includes(CURSOR));
  const start = Math.max(0, Math.min(place - most + 2, lines.length - most));
  return lines.slice(start, start + most).map((line, index) => {
    const key = start + index;
    const mark = key === 0 ? "› " : key === start ? "… " : "  ";
    const at = line.indexOf(CURSOR);
    if (at === -1) return { key, mark, before: line || " ", under: "", after: "" };
    const behind = line.slice(at + 1);
    const under = [...behind][0] ?? " ";
    return { key, mark, before: line.slice(0, at), under, after: behind.slice(under.length) };
  });
}

interface Completion {
  readonly label: string;
  readonly edit: LineEdit;
  /** Enter sends it at once. */
  readonly isCommand?: true;
}

/** The place in the completions of a draft. Another draft begins anew. */
interface ChosenCompletion {
  readonly of: string;
  readonly at: number;
  readonly isClosed?: boolean;
}

const NONE = -1;
const MOST_SHOWN = 5;
const MOST_FILES = 50;

function chosenIn({ text }: InputDraft, chosen: ChosenCompletion): ChosenCompletion {
  return chosen.of === text ? chosen : { of: text, at: NONE };
}

/** Completions of the command or mentioned file at the cursor. A line that was sent before has none. */
function complete(
  { text, cursor, history, place }: InputDraft,
  files: readonly string[],
  custom: readonly CustomCommand[],
): Completion[] {
  if (history[place] === text) return [];
  const typed = text.slice(0, cursor);
  if (/^\/[\w:.-]*$/.test(typed)) {
    const wanted = typed.slice(1).toLowerCase();
    const all: readonly SlashCommand[] = [...COMMANDS, ...custom];
    return all
      .filter(({ name, aliases = [] }) =>
        [name, ...aliases].some((each) => each.toLowerCase().startsWith(wanted) && name !== wanted),
      )
      .map(({ name, summary }) => ({
        label: `/${name}  ${summary}`,
        edit: { type: "replace", from: 0, text: `/${name}` },
        isCommand: true,
      }));
  }
  const mention = mentionAt(text, cursor);
  if (!mention) return [];
  return matchFiles(files, mention.typed, MOST_FILES)
    .filter((file) => file !== mention.typed)
    .map((file) => ({
      label: file,
      // A folder goes on with its files.
      edit: {
        type: "replace",
        from: mention.from,
        text: file.endsWith("/") ? `@${file}` : `${toMention(file)} `,
      },
    }));
}

const MOST_LINES = 10;
const MOST_CHARS = 2_000;
const MARK = /\[Pasted text (\d+): [\d,]+ lines?, [\d,]+ characters\]/g;

/** Long pasted texts, of which the draft shows one line each. */
export function createFoldedPastes() {
  const pastes: string[] = [];
  return {
    /** The text for the draft: the paste itself, or a line that stands for it. */
    fold: (pasted: string): string => {
      const lines = pasted.trimEnd().split("\n").length;
      if (lines <= MOST_LINES && pasted.length <= MOST_CHARS) return pasted;
      pastes.push(pasted);
      return `[Pasted text ${pastes.length}: ${count(lines)} ${lines === 1 ? "line" : "lines"}, ${count(pasted.length)} characters]`;
    },
    /** The draft with every paste in full. */
    unfold: (draft: string): string =>
      draft.replaceAll(MARK, (mark, number: string) => pastes[Number(number) - 1] ?? mark),
  };
}

/**
 * The mention of an image whose path was pasted, as terminals write it when a file is dropped on them: plain, quoted,
 * with escaped blanks or as an address. Undefined for other text.
 */
export function pastedImage(pasted: string): string | undefined {
  const text = pasted.trim().replace(/^(['"])(.*)\1$/s, "$2");
  if (text.includes("\n") || !/\.(?:png|jpe?g|gif|webp)$/i.test(text)) return undefined;
  if (/^file:\/\//i.test(text)) {
    try {
      return toMention(fileURLToPath(text));
    } catch {
      return undefined;
    }
  }
  const path = text.replaceAll(/\\(.)/g, "$1");
  if (path.startsWith("~/")) return toMention(`${homedir()}${path.slice(1)}`);
  return /^(?:\/|\.\.?\/)/.test(path) ? toMention(path) : undefined;
}
