import { render } from "ink";
import { createElement as h } from "react";
import { createAnnouncer, NO_TITLE } from "./announce.ts";
import { ChatScreen } from "./chat-screen.ts";
import type { Chat } from "./create-chat.ts";

export interface ShowOptions {
  readonly banner: string;
  readonly files: readonly string[];
  readonly stdin?: NodeJS.ReadableStream;
  readonly stdout?: NodeJS.WritableStream;
  /** Receives the function that removes the screen, for signals. */
  onOpen?(close: () => void): void;
}

/** Shows a chat in the terminal until the person leaves. */
export async function showChat(chat: Chat, options: ShowOptions): Promise<void> {
  const { banner, files, stdin, stdout } = options;
  const out = stdout ?? process.stdout;
  const announce = createAnnouncer(process.cwd());
  const tell = () => void out.write(announce(chat.state()));
  const stop = chat.subscribe(tell);
  tell();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const screen = render(h(ChatScreen, { chat, banner, files, onLeave: close }), {
    exitOnCtrlC: false,
    // A terminal means that a person is there, even in CI.
    interactive: true,
    // Other output goes above the screen, unless the screen is a stream of its own.
    patchConsole: stdout === undefined,
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
  });
  options.onOpen?.(close);
  await Promise.race([chat.left, closed, screen.waitUntilExit()]);
  stop();
  screen.unmount();
  out.write(NO_TITLE);
}
