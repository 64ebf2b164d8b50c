import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export interface TmuxOptions {
  readonly command: readonly string[];
  readonly folder: string;
  /** All the variables that the command gets, besides PATH, LANG and TERM. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

export type Tmux = ReturnType<typeof openTmux>;

const POLL_MS = 100;
const TIMEOUT_MS = 60_000;

/** Runs a command in a terminal on a tmux server of its own. Throws if tmux does not start. */
export function openTmux({ command, folder, env, columns, rows }: TmuxOptions) {
  const socket = `keyhole-record-${randomUUID()}`;
  const variables = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "xterm-256color", ...env };
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8", env: variables });
  const opened = tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, "-c", folder, ...command);
  if (opened.status !== 0) throw new Error(`tmux does not start: ${opened.stderr}`);
  // Keep the last screen after the program ends.
  tmux("set-option", "-g", "remain-on-exit", "on");
  const text = () => tmux("capture-pane", "-p", "-J").stdout;
  return {
    type: (words: string) => void tmux("send-keys", "-l", "--", words),
    /** Presses keys by tmux's names for them, such as Enter. */
    press: (...keys: string[]) => void tmux("send-keys", ...keys),
    /** The text on the screen, with wrapped lines joined. */
    text,
    /** The screen with its colours. */
    screen: () => tmux("capture-pane", "-p", "-e").stdout,
    /** The lines on the screen and above it, as they are wrapped. */
    history: () => tmux("capture-pane", "-p", "-S", "-").stdout.trimEnd().split("\n"),
    /** Waits until the screen shows a text. Throws with the screen if it waits in vain. */
    waitFor: async (wanted: string | RegExp, onChange: () => void = () => {}): Promise<void> => {
      const end = Date.now() + TIMEOUT_MS;
      for (;;) {
        const shown = text();
        if (typeof wanted === "string" ? shown.includes(wanted) : wanted.test(shown)) return;
        if (Date.now() > end) throw new Error(`The screen never showed ${wanted}:\n${shown}`);
        onChange();
        await sleep(POLL_MS);
      }
    },
    close: () => void tmux("kill-server"),
  };
}
