import { createInterface } from "node:readline";
import { contextLines, foldResult, thinkingLine, toDuration } from "./block-text.ts";
import type { Chat } from "./chat.ts";
import type { ChatBlock } from "./chat-state.ts";

export interface PlainOptions {
  readonly input: NodeJS.ReadableStream;
  write(line: string): void;
}

/**
 * A chat without a terminal: each input line is sent, and each block is written when it is finished. Nobody can be
 * asked, so questions are answered with deny. Resolves to whether no line failed.
 */
export async function plainChat(chat: Chat, { input, write }: PlainOptions): Promise<boolean> {
  let printed = 0;
  let ok = true;
  let conversation = chat.state().conversation;

  function print(): void {
    const state = chat.state();
    if (state.conversation !== conversation) printed = 0;
    conversation = state.conversation;
    for (const block of state.done.slice(printed)) {
      if (block.kind === "problem") ok = false;
      if (block.kind !== "prompt") write(blockText(block));
    }
    printed = state.done.length;
    if (state.picker) {
      for (const { id, name, text } of state.picker.choices) write(`${id}: ${name} ${text}`.trimEnd());
      queueMicrotask(() => chat.setPicker(undefined));
    }
    if (state.question) queueMicrotask(() => chat.answerText(undefined));
    if (state.permissions.length > 0) queueMicrotask(() => chat.answer("nobody"));
  }

  const stop = chat.subscribe(print);
  let hasLeft = false;
  void chat.left.then(() => {
    hasLeft = true;
  });
  try {
    for await (const line of createInterface({ input })) {
      await chat.submit(line);
      // Leaving resolves a promise, so wait a microtask.
      await Promise.resolve();
      if (hasLeft) break;
    }
  } finally {
    stop();
  }
  return ok;
}

const PLAIN_COLUMNS = 72;

/** A block as plain lines, for pipes and files. */
export function blockText(block: ChatBlock): string {
  switch (block.kind) {
    case "prompt":
      return `> ${block.text}`;
    case "answer":
    case "notice":
      return block.text;
    case "tool": {
      const time = block.ms === undefined ? "" : ` (${toDuration(block.ms)})`;
      const result = block.text === undefined ? "" : `: ${foldResult(block.text)}`;
      const diff = block.diff === undefined ? "" : `\n${block.diff.trimEnd()}`;
      return `[${block.status}] ${block.tool} ${block.args}${time}${result}${diff}`;
    }
    case "thinking":
      return thinkingLine(block.text);
    case "problem":
      return `${block.code}: ${block.message}\n${block.next}`;
    case "facts":
      return block.facts.map(({ name, text }) => `${name}: ${text}`).join("\n");
    case "context":
      return contextLines(block.report, PLAIN_COLUMNS).join("\n");
  }
}
