import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { Box, Static, Text, useAnimation, useApp, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useRef, useSyncExternalStore } from "react";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { ApprovalView } from "./approval-view.ts";
import { count } from "./block-text.ts";
import { BlockView } from "./block-view.ts";
import type { Chat } from "./chat.ts";
import type { ChatStatus } from "./chat-agent.ts";
import type { ChatBlock, ChatState } from "./chat-state.ts";
import { MODES, NO_EDITOR } from "./commands.ts";
import { TextQuestionView } from "./dialogue.ts";
import { InputBox, putFirst } from "./input-box.ts";
import { typedText, useDraft } from "./line-editor.ts";
import { PermissionDialog, useAttention } from "./permission-dialog.ts";
import { PickerView } from "./pick-list.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard } from "./wrap-text.ts";

/** Rows reserved below a growing answer for the status, the input and completions. */
const ROWS_BELOW = 9;
/** Most lines of the draft, alone and below a question. */
const DRAFT_LINES = 8;
const DRAFT_LINES_ASKING = 3;
/** In a lower window a question leaves the draft one line. */
const LOW = 30;
/** Rows for the draft and the status below a card. */
const ROWS_BESIDE_CARD = 8;
const CHARS_PER_TOKEN = 4;
/** Two presses of Esc within this time go back. */
const TWICE_MS = 800;

export interface ChatScreenProps {
  readonly chat: Chat;
  /** The first line. */
  readonly banner: string;
  readonly files: readonly string[];
  /** Default: that of the window. */
  readonly size?: { readonly columns: number; readonly rows: number };
  onLeave(): void;
}

/** The whole screen. Finished blocks are printed once; changing ones are redrawn below them. */
export function ChatScreen({ chat, banner, files, size, onLeave }: ChatScreenProps): ReactNode {
  const state = useSyncExternalStore(chat.subscribe, chat.state);
  const window = useWindowSize();
  const { columns, rows } = size ?? window;
  const [permission] = state.permissions;
  const draft = useDraft(chat.history);
  const attention = useAttention(permission?.number);
  const card = chat.card();

  const queued = Math.min(state.queue.length, MOST_QUEUED);
  const draftLines = !permission ? DRAFT_LINES : rows < LOW ? 1 : DRAFT_LINES_ASKING;

  const { picker, question } = state;
  const escapedAt = useRef(Number.NEGATIVE_INFINITY);

  function onEscape(): void {
    if (permission) return;
    if (state.phase !== "idle") {
      stop(() => chat.cancel());
      return;
    }
    const isSecond = performance.now() - escapedAt.current < TWICE_MS;
    escapedAt.current = isSecond ? Number.NEGATIVE_INFINITY : performance.now();
    if (isSecond) void chat.openIfIdle("messages");
  }

  /** Stops the run. Messages that wait for it become the draft again. */
  function stop(how: () => void): void {
    how();
    putFirst(draft, chat.takeBack("all"));
  }

  async function paste(): Promise<void> {
    attention.typed();
    const text = await chat.paste();
    if (text !== undefined) draft.change({ type: "insert", text: typedText(text) });
  }

  const { suspendTerminal } = useApp();

  async function editDraft(): Promise<void> {
    let text: string | undefined;
    await suspendTerminal(async () => {
      text = await editText(draft.latest().text);
    });
    if (text === undefined) chat.notice(NO_EDITOR);
    else draft.change({ type: "set", text });
  }

  useInput((input, key) => {
    if (picker || question) return;
    if (key.ctrl && input === "g" && state.phase === "idle") void editDraft();
    if (key.ctrl && input === "c") stop(() => chat.interrupt());
    if (key.ctrl && input === "o") chat.unfold("tool");
    if (key.ctrl && input === "t") chat.unfold("thinking");
    if (key.ctrl && input === "r" && !permission) void chat.openIfIdle("history");
    if (key.ctrl && input === "v") void paste();
    if (key.tab && key.shift) chat.nextMode();
  });

  const printed = {
    items: [{ kind: "notice", text: banner } as ChatBlock, ...state.done],
    children: (block: ChatBlock, index: number) =>
      h(Box, { key: index, width: columns }, h(BlockView, { block, columns })),
  };
  return column(
    {},
    h(Static<ChatBlock>, { key: state.conversation, ...printed }),
    // A question shows its call whole, and needs the room.
    (permission ? [] : state.live).map((block, index) =>
      h(BlockView, {
        key: index,
        block: toFit(block, columns, rows - ROWS_BELOW - queued),
        columns,
      }),
    ),
    h(StatusLine, { state }),
    permission
      ? h(Asking, {
          key: permission.number,
          chat,
          permission,
          columns,
          rows: rows - draftLines + 1 - queued - (state.permissions.length > 1 ? 1 : 0),
          attention,
          draft,
        })
      : null,
    picker
      ? h(PickerView, {
          key: picker.kind,
          picker,
          rows,
          onPick: async (choice) => {
            const text = await chat.pick(choice);
            if (text !== undefined) draft.change({ type: "set", text });
          },
          onClose: () => chat.setPicker(undefined),
        })
      : null,
    question
      ? h(TextQuestionView, {
          key: question.title,
          question,
          columns,
          onAnswer: (text) => chat.answerText(text),
        })
      : null,
    h(Queue, { queue: state.queue }),
    h(InputBox, {
      draft,
      columns,
      lines: draftLines,
      files: permission ? [] : files,
      ready: state.phase === "idle",
      takesPastes: question === undefined,
      isTaken: (input, key) => {
        if (picker !== undefined || question !== undefined) return true;
        if (card) return attention.isReady() && !key.ctrl;
        return attention.takes(input, key, draft.latest().text === "");
      },
      commands: chat.commands(),
      onEscape,
      onSubmit: (text, shown, when) => void chat.submit(text, shown, when),
      onTakeBack: () => chat.takeBack("last"),
      onType: () => {
        attention.typed();
        chat.stay();
      },
      onLeave,
    }),
    h(StatusBar, { status: state.status }),
  );
}

/**
 * Lets the person edit a text in the editor that $VISUAL or $EDITOR names, as git does. Undefined if the editor fails.
 * It needs the terminal: nothing else may read it or write to it meanwhile.
 */
async function editText(text: string): Promise<string | undefined> {
  const { VISUAL, EDITOR } = process.env;
  const editor = VISUAL?.trim() || EDITOR?.trim() || "vi";
  const folder = await mkdtemp(join(tmpdir(), "keyhole-"));
  const path = join(folder, "message.md");
  const ignore = () => {};
  // Ctrl-C belongs to the editor.
  process.on("SIGINT", ignore);
  try {
    await writeFile(path, text, { mode: 0o600 });
    const { status } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" });
    return status === 0 ? (await readFile(path, "utf8")).trimEnd() : undefined;
  } finally {
    // A signal that came meanwhile arrives now.
    await nextTick();
    process.off("SIGINT", ignore);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Most rows of messages that wait. */
const MOST_QUEUED = 4;
const WHEN = { step: "after this step", end: "at the end" } as const;

/** The messages that wait, and when the model gets each. */
function Queue({ queue }: { queue: ChatState["queue"] }): ReactNode {
  const shown = queue.length > MOST_QUEUED ? queue.slice(0, MOST_QUEUED - 1) : queue;
  const more = queue.length - shown.length;
  return column(
    {},
    shown.map(({ shown: text, when }, index) => {
      const hint = index === 0 ? " (Alt-Up takes back)" : "";
      const line = toVisibleLine(text);
      return h(Text, { key: index, dimColor: true, wrap: "truncate" }, `⧗ ${WHEN[when]}${hint}: ${line}`);
    }),
    more > 0 ? h(Text, { dimColor: true }, `⧗ ${more} more`) : null,
  );
}

interface AskingProps {
  readonly chat: Chat;
  readonly permission: ChatState["permissions"][number];
  readonly columns: number;
  readonly rows: number;
  readonly attention: ReturnType<typeof useAttention>;
  readonly draft: ReturnType<typeof useDraft>;
}

/** The first question that waits: a card of definitions, or a call. */
function Asking({ chat, permission, columns, rows, attention, draft }: AskingProps): ReactNode {
  const card = chat.card();
  if (!card) {
    const onAnswer = (answer: Parameters<Chat["answer"]>[0]) => chat.answer(answer);
    return h(PermissionDialog, { permission, columns, rows, attention, draft, onAnswer });
  }
  return h(ApprovalView, {
    card,
    columns,
    rows: rows - ROWS_BESIDE_CARD,
    attention,
    onAnswer: (answer) => chat.answer(answer === "later" ? "deny" : answer),
  });
}

function StatusLine({ state }: { state: ChatState }): ReactNode {
  if (state.permissions.length > 1) {
    return h(Text, { dimColor: true }, `${state.permissions.length} calls wait for an answer.`);
  }
  if (state.permissions.length === 1) return null;
  if (state.phase === "cancelling") return h(Spinner, { label: "Cancelling. Ctrl-C again leaves." });
  if (state.phase === "running") return h(Spinner, { label: labelOf(state), more: receivedOf(state) });
  return state.leaving ? h(Text, { dimColor: true }, "Ctrl-C again leaves.") : null;
}

/** The tokens of the turn so far: those that the provider has counted, and an estimate of the rest. */
function receivedOf({ received }: ChatState): string {
  const tokens = received.tokens + Math.round(received.chars / CHARS_PER_TOKEN);
  return tokens === 0 ? "" : `↓ ${count(tokens)} tokens`;
}

function labelOf({ live }: ChatState): string {
  const running = live.filter((block) => block.kind === "tool" && block.status === "running");
  const [first] = running;
  if (first?.kind !== "tool") return live.some(({ kind }) => kind === "answer") ? "Answering" : "Thinking";
  return running.length === 1 ? `Running ${first.tool}` : `Running ${running.length} tools`;
}

/** Cuts a block to the screen's height, because a taller one would make the terminal scroll with every change. */
function toFit(block: ChatBlock, columns: number, rows: number): ChatBlock {
  if (block.kind !== "answer") return block;
  const most = Math.max(3, rows);
  const lines = wrapHard(block.text, columns);
  return lines.length <= most ? block : { ...block, text: lines.slice(-most).join("\n") };
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const INTERVAL_MS = 120;

/** Shows that work is running, for how long, and how to stop it. */
function Spinner({ label, more = "" }: { label: string; more?: string }): ReactNode {
  const { frame, time } = useAnimation({ interval: INTERVAL_MS });
  const seconds = Math.floor(time / 1000);
  return h(
    Text,
    { wrap: "truncate", ...colour("yellow") },
    [`${FRAMES[frame % FRAMES.length]} ${label}`, seconds > 0 ? `${seconds} s` : "", more, "Esc stops"]
      .filter((part) => part !== "")
      .join(" · "),
  );
}

/** The line below the input: mode, model, context, cost. The mode comes first, so that no window cuts it off. */
function StatusBar({ status }: { status: ChatStatus }): ReactNode {
  const tint = status.mode === "ask" ? {} : colour(status.mode === "plan" ? "cyan" : "yellow");
  return h(Text, { wrap: "truncate", dimColor: status.mode === "ask", ...tint }, statusText(status));
}

function statusText({ mode, model, thinking, tokens, window, cost }: ChatStatus): string {
  const share = window > 0 ? ` (${Math.round((tokens / window) * 100)} %)` : "";
  const parts = [
    `${MODES[mode]} (⇧Tab)`,
    model,
    thinking === undefined ? "" : `thinking ${thinking}`,
    tokens > 0 ? `${tokens < 10_000 ? count(tokens) : `${Math.round(tokens / 1_000)}k`} tokens${share}` : "",
    cost === undefined ? "" : `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
