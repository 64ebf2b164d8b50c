import { Box, Static, Text, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useRef, useSyncExternalStore } from "react";
import { BlockView } from "./block-view.ts";
import type { Block, ChatState } from "./chat-state.ts";
import type { Chat } from "./create-chat.ts";
import { InputBox } from "./input-box.ts";
import { typedText } from "./key-to-edit.ts";
import { PermissionDialog } from "./permission-dialog.ts";
import { PickerView } from "./picker-view.ts";
import { Spinner } from "./spinner.ts";
import { StatusBar } from "./status-bar.ts";
import { useAttention } from "./use-attention.ts";
import { useDraft } from "./use-draft.ts";
import { wrapHard } from "./wrap-hard.ts";

/** Rows reserved below a growing answer for the status, the input and completions. */
const ROWS_BELOW = 9;
/** Most lines of the draft, alone and below a question. */
const DRAFT_LINES = 8;
const DRAFT_LINES_ASKING = 3;
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

  const { picker } = state;
  const escapedAt = useRef(Number.NEGATIVE_INFINITY);

  function onEscape(): void {
    if (permission) return;
    chat.cancel();
    if (state.phase !== "idle") return;
    const isSecond = performance.now() - escapedAt.current < TWICE_MS;
    escapedAt.current = isSecond ? Number.NEGATIVE_INFINITY : performance.now();
    if (isSecond) void chat.open("messages");
  }

  async function paste(): Promise<void> {
    attention.typed();
    const text = await chat.paste();
    if (text !== undefined) draft.change({ type: "insert", text: typedText(text) });
  }

  useInput((input, key) => {
    if (picker) return;
    if (key.ctrl && input === "c") chat.interrupt();
    if (key.ctrl && input === "o") chat.unfold("tool");
    if (key.ctrl && input === "t") chat.unfold("thinking");
    if (key.ctrl && input === "r" && !permission) void chat.open("history");
    if (key.ctrl && input === "v") void paste();
    if (key.tab && key.shift) chat.nextMode();
  });

  const printed = {
    items: [{ kind: "notice", text: banner } as Block, ...state.done],
    children: (block: Block, index: number) =>
      h(Box, { key: index, width: columns }, h(BlockView, { block, columns })),
  };
  return h(
    Box,
    { flexDirection: "column" },
    h(Static<Block>, { key: state.conversation, ...printed }),
    state.live.map((block, index) =>
      h(BlockView, { key: index, block: toFit(block, columns, rows - ROWS_BELOW), columns }),
    ),
    h(StatusLine, { state }),
    permission
      ? h(PermissionDialog, {
          key: permission.number,
          permission,
          columns,
          rows,
          attention,
          draft,
          onAnswer: (answer) => chat.answer(answer),
        })
      : null,
    picker
      ? h(PickerView, {
          key: picker.kind,
          picker,
          rows,
          onPick: async (choice) => {
            const text = await chat.pick(choice);
            if (text === undefined) return;
            draft.change({ type: "clear" });
            draft.change({ type: "insert", text });
          },
          onClose: () => chat.closePicker(),
        })
      : null,
    h(InputBox, {
      draft,
      columns,
      lines: permission ? DRAFT_LINES_ASKING : DRAFT_LINES,
      files,
      ready: state.phase === "idle",
      isTaken: (key) => picker !== undefined || attention.takes(key),
      commands: chat.commands(),
      onEscape,
      onSubmit: (text, shown) => void chat.submit(text, shown),
      onType: () => {
        attention.typed();
        chat.stay();
      },
      onLeave,
    }),
    h(StatusBar, { status: state.status }),
  );
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
  return tokens === 0 ? "" : `↓ ${tokens.toLocaleString("en-US")} tokens`;
}

function labelOf({ live }: ChatState): string {
  const running = live.filter((block) => block.kind === "tool" && block.status === "running");
  const [first] = running;
  if (first?.kind !== "tool") return live.some(({ kind }) => kind === "answer") ? "Answering" : "Thinking";
  return running.length === 1 ? `Running ${first.tool}` : `Running ${running.length} tools`;
}

/** Cuts a block to the screen's height, because a taller one would make the terminal scroll with every change. */
function toFit(block: Block, columns: number, rows: number): Block {
  if (block.kind !== "answer") return block;
  const most = Math.max(3, rows);
  const lines = wrapHard(block.text, columns);
  return lines.length <= most ? block : { ...block, text: lines.slice(-most).join("\n") };
}
