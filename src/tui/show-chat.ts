import { render } from "ink";
import { createElement as h } from "react";
import { ChatScreen } from "./chat-screen.ts";
import type { Chat } from "./create-chat.ts";

export interface ShowOptions {
  readonly banner: string;
  readonly files: readonly string[];
  readonly stdin?: NodeJS.ReadableStream;
  readonly stdout?: NodeJS.WritableStream;
  /** Given what takes the screen away, for signals. */
  onOpen?(close: () => void): void;
}

/** Shows a chat in a terminal until the person leaves. */
export async function showChat(chat: Chat, options: ShowOptions): Promise<void> {
  const { banner, files, stdin, stdout } = options;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const screen = render(h(ChatScreen, { chat, banner, files, onLeave: close }), {
    exitOnCtrlC: false,
    // Every process that has a terminal is asked by a person, also in CI.
    interactive: true,
    // What others print belongs above the screen; where the screen is a stream, it is not theirs.
    patchConsole: stdout === undefined,
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
  });
  options.onOpen?.(close);
  await Promise.race([chat.left, closed, screen.waitUntilExit()]);
  screen.unmount();
}
