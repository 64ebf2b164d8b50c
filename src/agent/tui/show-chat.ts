import { basename } from "node:path";
import { render } from "ink";
import { createElement as h } from "react";
import type { Chat } from "./chat.ts";
import { ChatScreen } from "./chat-screen.ts";
import type { ChatState } from "./chat-state.ts";

export interface ShowOptions {
  readonly banner: string;
  readonly files: readonly string[];
  readonly stdin?: NodeJS.ReadableStream;
  readonly stdout?: NodeJS.WritableStream;
  /** Writes every line with each change, for readers that are no terminal. */
  readonly wholeFrames?: boolean;
  /** Receives the function that removes the screen, for signals. */
  onOpen?(close: () => void): void;
}

/** Shows a chat in the terminal until the person leaves. */
export async function showChat(chat: Chat, options: ShowOptions): Promise<void> {
  const { banner, files, stdin, stdout, wholeFrames = false } = options;
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
    // Write only the lines that changed (bench: stream).
    incrementalRendering: !wholeFrames,
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

/**
 * Tells the terminal how the chat stands: the title names it, and a bell rings when a question opens or a turn ends,
 * for a person who is in another window. Returns the sequences to write, which move nothing on the screen.
 */
export function createAnnouncer(folder: string): (state: ChatState) => string {
  const place = basename(folder).replaceAll(/\p{Cc}/gu, "") || "/";
  let title = "";
  let asked = 0;
  let wasRunning = false;
  return ({ phase, permissions, asked: questions }) => {
    const isAsking = permissions.length > 0;
    const mark = isAsking ? "? " : phase === "idle" ? "" : "● ";
    const next = `${mark}keyhole: ${place}`;
    const rings = questions > asked || (wasRunning && phase === "idle");
    asked = questions;
    wasRunning = phase !== "idle";
    const renamed = next === title ? "" : `\u001b]0;${next}\u0007`;
    title = next;
    return `${renamed}${rings ? "\u0007" : ""}`;
  };
}

/** Gives the title back to the shell. */
const NO_TITLE = "\u001b]0;\u0007";
