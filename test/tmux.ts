import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";

const LINGERS = '"$@"; code=$?; sleep 2; exit $code';
/** Time between two keys of a person. */
const KEY_MS = 400;

/** Why tmux cannot be used, or undefined if it can. */
export function tmuxMissing(): string | undefined {
  return spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";
}

export interface Terminal {
  /** Types text as it is. */
  type(text: string): void;
  /** Pastes text, as a terminal marks it for programs that ask for that. */
  paste(text: string): void;
  /** Presses keys by tmux's names for them. */
  press(...keys: string[]): void;
  resize(columns: number, rows: number): void;
  /** Returns the text on the screen. */
  screen(): string;
  /** Waits until the screen shows the text. */
  sees(text: string): Promise<void>;
  /** Waits until the program has ended. */
  ends(): Promise<void>;
  /** Kills the program, so that it can do nothing more. */
  kill(): void;
  /** Reads the screen of `keyhole approve` to its end, chooses an answer and presses Enter. */
  answers(label: string): Promise<void>;
}

export type TerminalSize = readonly [columns: number, rows: number];

export interface TerminalOptions {
  readonly folder: string;
  /** All the variables that the command gets, besides PATH, LANG and TERM. */
  readonly env: Readonly<Record<string, string>>;
  /** Keeps the terminal for a moment after the program: tmux clears what a program printed after a full screen. */
  readonly lingers?: boolean;
  readonly size?: TerminalSize | undefined;
}

/** Runs a command in a terminal on a separate tmux server. */
export function openTerminal(
  command: readonly string[],
  { folder, env, lingers = false, size: [columns, rows] = [80, 24] }: TerminalOptions,
): Terminal {
  const socket = `keyhole-test-${randomUUID()}`;
  // The server passes its own variables on, and some of them move the folders of a home.
  const variables = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "xterm", ...env };
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8", env: variables });
  const shown = lingers ? ["sh", "-c", LINGERS, "sh", ...command] : command;
  const opened = tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, "-c", folder, ...shown);
  expect(opened.stderr).toBe("");
  onTestFinished(() => void tmux("kill-server"));
  // Keep the last screen after the program ends and after a resize.
  tmux("set-option", "-g", "remain-on-exit", "on");
  const screen = () => tmux("capture-pane", "-p").stdout;
  const press = (...keys: string[]) => void tmux("send-keys", ...keys);
  const sees = (text: string) => expect.poll(screen, { timeout: 60_000, interval: 50 }).toContain(text);
  /** The screen once it no longer changes, however busy the machine is. */
  const restingScreen = async () => {
    let last = screen();
    for (let same = 0; same < 2; ) {
      await sleep(KEY_MS / 2);
      const now = screen();
      same = now === last ? same + 1 : 0;
      last = now;
    }
    return last;
  };
  return {
    paste: (text) => {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    type: (text) => void tmux("send-keys", "-l", text),
    press,
    kill: () => void process.kill(Number(tmux("display-message", "-p", "#{pane_pid}").stdout), "SIGKILL"),
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    screen,
    ends: () =>
      expect
        .poll(() => tmux("display-message", "-p", "#{pane_dead}").stdout.trim(), {
          timeout: 60_000,
          interval: 50,
        })
        .toBe("1"),
    sees,
    answers: async (label) => {
      await sees("Enter answer");
      /** Presses a key and waits until the screen shows it, however busy the machine is. */
      const step = async (key: string) => {
        const before = await restingScreen();
        press(key);
        for (let wait = 0; wait < 60 && screen() === before; wait += 1) await sleep(50);
        await restingScreen();
      };
      for (let page = 0; page < 20 && screen().includes("Page Down shows the rest"); page += 1)
        await step("PageDown");
      await step("Tab");
      for (let at = 0; at < 5 && !screen().includes(`› ${label}`); at += 1) await step("Down");
      await sees(`› ${label}`);
      await sleep(KEY_MS);
      press("Enter");
    },
  };
}
