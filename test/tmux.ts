import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";

/** Time between two keys of a person. */
const KEY_MS = 400;

/** Why tmux cannot be used, or undefined if it can. */
export function tmuxMissing(): string | undefined {
  return spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";
}

export interface Terminal {
  /** Types text as it is. */
  type(text: string): void;
  /** Presses keys by tmux's names for them. */
  press(...keys: string[]): void;
  resize(columns: number, rows: number): void;
  /** Returns the text on the screen. */
  screen(): string;
  /** Waits until the screen shows the text. */
  sees(text: string): Promise<void>;
  /** Waits until the program has ended. */
  ends(): Promise<void>;
  /** Reads the screen of `keyhole approve` to its end, chooses an answer and presses Enter. */
  answers(label: string): Promise<void>;
}

export interface TerminalOptions {
  readonly folder: string;
  /** All the variables that the command gets, besides PATH, LANG and TERM. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a command in a terminal on a separate tmux server. */
export function openTerminal(command: readonly string[], { folder, env }: TerminalOptions): Terminal {
  const socket = `keyhole-test-${randomUUID()}`;
  // The server passes its own variables on, and some of them move the folders of a home.
  const variables = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "xterm", ...env };
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8", env: variables });
  const opened = tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", folder, ...command);
  expect(opened.stderr).toBe("");
  onTestFinished(() => void tmux("kill-server"));
  // Keep the last screen after the program ends and after a resize.
  tmux("set-option", "-g", "remain-on-exit", "on");
  const screen = () => tmux("capture-pane", "-p").stdout;
  const press = (...keys: string[]) => void tmux("send-keys", ...keys);
  const sees = (text: string) => expect.poll(screen, { timeout: 60_000, interval: 50 }).toContain(text);
  return {
    type: (text) => void tmux("send-keys", "-l", text),
    press,
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
      for (let page = 0; page < 20 && screen().includes("Page Down shows the rest"); page += 1) {
        press("PageDown");
        await sleep(KEY_MS);
      }
      press("Tab");
      for (let step = 0; step < 5 && !screen().includes(`› ${label}`); step += 1) {
        await sleep(KEY_MS);
        if (!screen().includes(`› ${label}`) && step > 0) press("Down");
      }
      await sees(`› ${label}`);
      await sleep(KEY_MS);
      press("Enter");
    },
  };
}
