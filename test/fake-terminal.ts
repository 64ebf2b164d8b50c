import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished } from "vitest";
import { Chat } from "../src/agent/tui/chat.ts";
import type { ChatOptions } from "../src/agent/tui/chat-agent.ts";
import { showChat } from "../src/agent/tui/show-chat.ts";
import type { ScriptedAgent } from "./scripted-agent.ts";

export interface FakeTerminal {
  readonly chat: Chat;
  /** Resolves when the screen has closed. */
  readonly closed: Promise<void>;
  /** Resolves when the keys were read, so that the next keys arrive as a separate chunk. */
  type(keys: string): Promise<void>;
  /** All output so far, without cursor movements. */
  text(): string;
  raw(): string;
  /** Waits until the screen shows the text. */
  sees(text: string | RegExp): Promise<void>;
}

/** Runs a chat on a terminal made of two streams. */
export function openFakeTerminal(
  agent: ScriptedAgent,
  {
    columns = 80,
    files = [] as string[],
    isFile,
  }: { columns?: number; files?: string[] } & Partial<ChatOptions> = {},
): FakeTerminal {
  const { stdin, stdout, text, raw, type } = fakeStreams(columns);
  const chat = new Chat(agent, { isFile: isFile ?? (async (path) => files.includes(path)) });
  let leave = () => {};
  const closed = showChat(chat, {
    wholeFrames: true,
    banner: "Keyhole, scripted",
    files,
    stdin: stdin as unknown as NodeJS.ReadableStream,
    stdout: stdout as unknown as NodeJS.WritableStream,
    onOpen: (close) => {
      leave = close;
    },
  });
  onTestFinished(async () => {
    leave();
    await closed;
  });
  return {
    chat,
    closed,
    type,
    text,
    raw,
    sees: (wanted) =>
      expect
        .poll(text, { timeout: 20_000, interval: 10 })
        [typeof wanted === "string" ? "toContain" : "toMatch"](wanted as never),
  };
}

/** Two streams that are a terminal for the program, and what it has written. */
export function fakeStreams(columns = 80) {
  const written: string[] = [];
  const stdout = Object.assign(new PassThrough(), { columns, rows: 30, isTTY: true });
  stdout.on("data", (chunk: Buffer) => written.push(String(chunk)));
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const raw = () => written.join("");
  return {
    stdin,
    stdout,
    raw,
    text: () => stripVTControlCharacters(raw()),
    type: async (keys: string) => {
      stdin.write(keys);
      await expect.poll(() => stdin.readableLength, { timeout: 20_000, interval: 5 }).toBe(0);
    },
  };
}
