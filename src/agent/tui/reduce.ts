import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { toDuration } from "../../base/util/to-duration.ts";
import { toJson } from "../../base/util/to-json.ts";
import type { AgentEvent, AgentOutcome } from "../loop/agent-event.ts";
import { count } from "./block-text.ts";
import type { PastMessage } from "./chat-agent.ts";
import { type ChatBlock, type ChatState, NEW_CHAT, type ToolBlock } from "./chat-state.ts";
import { splitAnswer } from "./markdown.ts";

/** Events of the chat itself, beside those of the agent. */
export type LocalEvent =
  | { readonly type: "turn-start"; readonly prompt: string }
  | { readonly type: "turn-end" }
  | { readonly type: "turn-failed"; readonly code: string; readonly message: string; readonly next: string }
  | { readonly type: "cancel" }
  | { readonly type: "show"; readonly block: ChatBlock }
  | { readonly type: "resumed"; readonly messages: readonly PastMessage[] }
  | { readonly type: "cleared" }
  | {
      readonly type: "set";
      readonly change: Partial<Pick<ChatState, "status" | "picker" | "question" | "leaving" | "queue">>;
    };

export type ChatEvent = AgentEvent | LocalEvent;

const MOST_TEXT_CHARS = 20_000;
const MOST_ARGS_CHARS = 200;
const MOST_LIVE_CHARS = 4_000;

/** Applies an event to the state. Pure: the same events give the same screen. */
export function reduce(state: ChatState, event: ChatEvent): ChatState {
  return settle(apply(state, event));
}

function apply(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case "turn-start": {
      const { received } = NEW_CHAT;
      const running: ChatState = { ...state, phase: "running", leaving: false, received };
      // A turn that the chat itself starts has no prompt.
      return event.prompt === "" ? running : add(running, { kind: "prompt", text: clean(event.prompt) });
    }
    case "turn-end":
      return endTurn(state);
    case "turn-failed":
      return addProblem(endTurn(state), event);
    case "cancel":
      return state.phase === "running" ? { ...state, phase: "cancelling", permissions: [] } : state;
    case "show":
      return insert(state, event.block);
    case "resumed":
      return event.messages.reduce(addPast, { ...emptied(state), done: state.done });
    case "cleared":
      return add(
        { ...emptied(state), conversation: state.conversation + 1 },
        { kind: "notice", text: "A new conversation." },
      );
    case "set":
      return { ...state, ...event.change };
    case "agent-start":
    case "llm-start":
    case "llm-aside":
      return state;
    case "user-message":
      return add(state, { kind: "prompt", text: clean(event.text) });
    case "llm-thinking":
      return addThinking(receiving(state, event.text), event.text);
    case "tool-output":
      return setTool(state, event.callId, (tool) => ({
        ...tool,
        live: clean(`${tool.live ?? ""}${event.text}`.slice(-MOST_LIVE_CHARS), MOST_TEXT_CHARS),
      }));
    case "context-compacted":
      return add(closeAnswer(state), { kind: "notice", text: compactedText(event) });
    case "llm-text":
      return addText(closeThinking(receiving(state, event.text)), event.text);
    case "llm-retry":
      return add(closeAnswer(state), {
        kind: "notice",
        text: clean(`Retrying in ${toDuration(event.delayMs)}: ${event.reason}`),
      });
    case "llm-end":
      return {
        ...closeAnswer(state),
        received: { tokens: state.received.tokens + event.usage.output, chars: 0 },
      };
    case "tool-start":
      return add(state, {
        kind: "tool",
        callId: event.callId,
        tool: clean(event.tool, MOST_ARGS_CHARS),
        args: argsText(event.tool, event.args),
        status: "running",
      });
    case "permission-request": {
      const { type: _, span: __, ...request } = event;
      const asking = setTool(state, request.callId, (tool) => ({ ...tool, status: "asking" }));
      const asked = state.asked + 1;
      // The dialog shows all of it whole, with names for invisible characters; cleaning would hide a part.
      const permission = { ...request, scope: clean(request.scope), number: asked };
      return { ...asking, asked, permissions: [...asking.permissions, permission] };
    }
    case "permission-answer": {
      const permissions = state.permissions.filter(({ callId }) => callId !== event.callId);
      return setTool({ ...state, permissions }, event.callId, (tool) => ({ ...tool, status: "running" }));
    }
    case "tool-end":
      return endTool(state, event);
    case "notice":
      return add(state, { kind: "notice", text: clean(event.text) });
    case "agent-end":
      return endAgent(state, event);
  }
}

/** The state without its conversation. */
function emptied({ conversation, asked, status, queue }: ChatState): ChatState {
  return { ...NEW_CHAT, conversation, asked, status, queue };
}

function receiving(state: ChatState, text: string): ChatState {
  const { tokens, chars } = state.received;
  return { ...state, received: { tokens, chars: chars + text.length } };
}

function compactedText(event: Extract<AgentEvent, { type: "context-compacted" }>): string {
  const { by, replaced, before, after, failure } = event;
  if (by === "handles") {
    return `The conversation has become long: ${replaced} large results of earlier turns are behind handles now, and the model can still read them. Messages: ${count(before)} tokens before, ${count(after)} now.`;
  }
  const what =
    by === "model"
      ? "The model summarized them"
      : `They could not be summarized (${clean(failure ?? "no reason given", 200)}), so an index stands for them`;
  return `The conversation has become long: ${replaced} older messages. ${what}, and can still read them. Messages: ${count(before)} tokens before, ${count(after)} now.`;
}

/** Moves finished blocks up if no unfinished block is above them. */
function settle(state: ChatState): ChatState {
  const unfinished = state.live.findIndex(isUnfinished);
  const count = unfinished === -1 ? state.live.length : unfinished;
  if (count === 0) return state;
  return {
    ...state,
    done: [...state.done, ...state.live.slice(0, count)],
    live: state.live.slice(count),
  };
}

function isUnfinished(block: ChatBlock): boolean {
  if (block.kind === "answer" || block.kind === "thinking") return block.open;
  return block.kind === "tool" && (block.status === "running" || block.status === "asking");
}

function add(state: ChatState, block: ChatBlock): ChatState {
  return { ...state, live: [...state.live, block] };
}

/** Above the blocks that still change, so that it is printed at once. */
function insert(state: ChatState, block: ChatBlock): ChatState {
  const at = state.live.findIndex(isUnfinished);
  return at === -1 ? add(state, block) : { ...state, live: state.live.toSpliced(at, 0, block) };
}

function addPast(state: ChatState, { role, text }: PastMessage): ChatState {
  if (role === "user") return add(state, { kind: "prompt", text: clean(text) });
  return add(state, { kind: "answer", text: clean(text), open: false });
}

function addProblem(
  state: ChatState,
  { code, message, next }: { readonly code: string; readonly message: string; readonly next: string },
): ChatState {
  return add(state, { kind: "problem", code: clean(code), message: clean(message), next: clean(next) });
}

function addText(state: ChatState, text: string): ChatState {
  const at = state.live.findLastIndex((block) => block.kind === "answer" && block.open);
  const open = state.live[at] as Extract<ChatBlock, { kind: "answer" | "thinking" }> | undefined;
  const pieces = splitAnswer(cleanGrowing(`${open?.text ?? ""}${text}`));
  const blocks = pieces.map(
    (piece, index): ChatBlock => ({ kind: "answer", text: piece, open: index === pieces.length - 1 }),
  );
  const live = open ? state.live.toSpliced(at, 1, ...blocks) : [...state.live, ...blocks];
  return { ...state, live };
}

function addThinking(state: ChatState, text: string): ChatState {
  const last = state.live.at(-1);
  if (last?.kind !== "thinking" || !last.open)
    return add(closeAnswer(state), { kind: "thinking", text: cleanGrowing(text), open: true });
  const grown = { ...last, text: cleanGrowing(last.text + text) };
  return { ...state, live: [...state.live.slice(0, -1), grown] };
}

function closeThinking(state: ChatState): ChatState {
  const open = state.live.findLast((block) => block.kind === "thinking" && block.open);
  if (open?.kind !== "thinking") return state;
  const live = state.live
    .map((block) => (block === open ? { ...open, open: false } : block))
    .filter((block) => block.kind !== "thinking" || block.text.trim() !== "");
  return { ...state, live, lastThinking: open.text };
}

function closeAnswer(state: ChatState): ChatState {
  const closed = closeThinking(state);
  const live = closed.live
    .filter((block) => block.kind !== "answer" || !block.open || block.text.trim() !== "")
    .map((block) =>
      block.kind === "answer" && block.open ? { ...block, text: clean(block.text), open: false } : block,
    );
  return { ...closed, live };
}

function setTool(state: ChatState, callId: string, change: (tool: ToolBlock) => ToolBlock): ChatState {
  const live = state.live.map((block) =>
    block.kind === "tool" && block.callId === callId && isUnfinished(block) ? change(block) : block,
  );
  return { ...state, live };
}

function endTool(state: ChatState, event: Extract<AgentEvent, { type: "tool-end" }>): ChatState {
  let lastTool = state.lastTool;
  const ended = setTool(state, event.callId, (tool) => {
    const { live: _, ...shown } = tool;
    lastTool = {
      ...shown,
      status: event.ok ? "ok" : "failed",
      ms: event.ms,
      text: clean(event.text, MOST_TEXT_CHARS),
      ...(event.diff !== undefined && { diff: clean(event.diff, MOST_TEXT_CHARS) }),
    };
    return lastTool;
  });
  const permissions = state.permissions.filter(({ callId }) => callId !== event.callId);
  return { ...ended, permissions, ...(lastTool && { lastTool }) };
}

/** Outcomes that need a word beside the answer or the problem. */
const OUTCOMES: Partial<Record<AgentOutcome, string>> = {
  cancelled: "Cancelled.",
  "step-limit": "Stopped: the step limit was reached. Send a line to continue.",
  "token-limit": "Stopped: the token limit was reached.",
  repeating: "Stopped: the model repeated the same call.",
};

function endAgent(state: ChatState, event: Extract<AgentEvent, { type: "agent-end" }>): ChatState {
  const ended = closeAll(state);
  if (event.error) return addProblem(ended, event.error);
  const text = OUTCOMES[event.outcome];
  return text === undefined ? ended : add(ended, { kind: "notice", text });
}

/** The chat is idle only after the turn, because an agent may still write its session after agent-end. */
function endTurn(state: ChatState): ChatState {
  return { ...closeAll(state), phase: "idle" };
}

/** Closes blocks that were left open. */
function closeAll(state: ChatState): ChatState {
  const closed = closeAnswer(state);
  const live = closed.live.map((block): ChatBlock => {
    return block.kind === "tool" && isUnfinished(block) ? { ...block, status: "cancelled" } : block;
  });
  return { ...closed, live, permissions: [] };
}

/** The next piece of a stream may bring the letter or picture that a joiner at the end belongs to. */
function cleanGrowing(text: string): string {
  const whole = /(?:\u200c|\u200d|\ufe0f)$/.test(text) ? text.slice(0, -1) : text;
  return clean(whole, Number.POSITIVE_INFINITY) + text.slice(whole.length);
}

/** Without secrets, which a provider or a tool may echo. Ink counts a carriage return as a character. */
function clean(text: string, maxChars = MOST_TEXT_CHARS): string {
  return toVisibleText(hideSecrets(text.replaceAll("\r\n", "\n")), maxChars);
}

/** The argument that says most about a call, by tool. */
const TELLING: Readonly<Record<string, string>> = {
  read: "path",
  list: "path",
  search: "pattern",
  write: "path",
  edit: "path",
  delete: "path",
  shell: "command",
  tool_search: "query",
  ask: "query",
  fetch: "url",
};

function argsText(tool: string, args: unknown): string {
  if (args === undefined) return "";
  const field = Object.hasOwn(TELLING, tool) ? TELLING[tool]! : undefined;
  const telling = field === undefined ? undefined : (args as Record<string, unknown> | null)?.[field];
  if (typeof telling === "string") return clean(telling, MOST_ARGS_CHARS).replaceAll("\n", " ");
  const calls = tool === "exec" || tool === "get" ? callsText(args) : "";
  if (calls !== "") return calls;
  const json = toJson(args);
  return json.ok ? clean(JSON.stringify(json.value), MOST_ARGS_CHARS) : clean(json.reason, MOST_ARGS_CHARS);
}

/** The calls that the gateway's own tools make: each tool by its name, with its arguments. */
function callsText(args: unknown): string {
  const { routes = args } = (args ?? {}) as { readonly routes?: unknown };
  const calls = (Array.isArray(routes) ? routes : [routes]).map((call) => {
    if (typeof call === "string") return clean(call, MOST_ARGS_CHARS);
    const { op, route = op, params, args: given = params } = (call ?? {}) as Record<string, unknown>;
    return typeof route === "string" ? `${clean(route, MOST_ARGS_CHARS)} ${argsText("", given)}`.trim() : "";
  });
  return calls.join(", ");
}
