import { createInterface } from "node:readline";
import { blockText } from "./block-text.ts";
import type { Chat } from "./create-chat.ts";

export interface PlainOptions {
  readonly input: NodeJS.ReadableStream;
  write(line: string): void;
}

/**
 * A chat without a terminal: each line that comes in is sent, each block goes out when it is finished. Nobody can
 * be asked, so what would have to be asked for is denied.
 */
export async function plainChat(chat: Chat, { input, write }: PlainOptions): Promise<void> {
  let printed = 0;
  let conversation = chat.state().conversation;

  function print(): void {
    const state = chat.state();
    if (state.conversation !== conversation) printed = 0;
    conversation = state.conversation;
    for (const block of state.done.slice(printed)) if (block.kind !== "prompt") write(blockText(block));
    printed = state.done.length;
    if (state.permissions.length > 0) queueMicrotask(() => chat.answer("deny"));
  }

  const stop = chat.subscribe(print);
  let left = false;
  void chat.left.then(() => {
    left = true;
  });
  try {
    for await (const line of createInterface({ input })) {
      await chat.submit(line);
      // A microtask: leaving is told by a promise.
      await Promise.resolve();
      if (left) break;
    }
  } finally {
    stop();
  }
}
