// Records a program in a real terminal (tmux) and makes an animated SVG of it: recordTerminal(…) then toSvg(…).
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cell, parseAnsi } from "./terminal/parse-ansi.ts";

/** One thing that the person does. Each step ends with a frame. */
export type Step =
  /** Types a text, word by word. */
  | { readonly type: string }
  /** Presses keys by tmux's names for them, such as Enter. */
  | { readonly press: readonly string[]; readonly hold?: number }
  /** Waits until the screen shows a text, with frames of everything on the way. */
  | { readonly sees: string | RegExp; readonly hold?: number };

export interface Recording {
  readonly command: readonly string[];
  readonly folder: string;
  /** All the variables that the command gets, besides PATH, LANG and TERM. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
  readonly steps: readonly Step[];
  /** Replaces text on every screen, such as folders of this machine. */
  readonly replace?: readonly (readonly [from: string | RegExp, to: string])[];
}

/** A screen and how long it is shown. */
export interface Frame {
  readonly ms: number;
  readonly lines: readonly (readonly Cell[])[];
}

const WORD_MS = 180;
const HOLD_MS = 900;
const CHANGE_MS = 250;
const POLL_MS = 100;
const TIMEOUT_MS = 120_000;

/** Runs a command in a terminal and takes a frame of every screen that differs. Throws with the screen if it waits in vain. */
export async function recordTerminal(recording: Recording): Promise<Frame[]> {
  const { command, folder, env, columns, rows, steps } = recording;
  const socket = `keyhole-record-${randomUUID()}`;
  const variables = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "xterm-256color", ...env };
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8", env: variables });
  const opened = tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, "-c", folder, ...command);
  if (opened.status !== 0) throw new Error(`tmux does not start: ${opened.stderr}`);
  const frames: { ms: number; text: string }[] = [];
  const capture = () => tmux("capture-pane", "-p", "-e").stdout;
  const plain = () => tmux("capture-pane", "-p", "-J").stdout;
  const take = (ms: number) => {
    const text = capture();
    const last = frames.at(-1);
    if (last?.text === text) last.ms = Math.max(last.ms, ms);
    else frames.push({ ms, text });
  };
  try {
    tmux("set-option", "-g", "remain-on-exit", "on");
    for (const step of steps) {
      if ("type" in step) {
        for (const word of step.type.split(/(?<= )/)) {
          tmux("send-keys", "-l", "--", word);
          await sleep(POLL_MS);
          take(WORD_MS);
        }
      } else if ("press" in step) {
        tmux("send-keys", ...step.press);
        await sleep(POLL_MS);
        take(step.hold ?? CHANGE_MS);
      } else {
        await waitFor(step.sees, plain, () => take(CHANGE_MS));
        take(step.hold ?? HOLD_MS);
      }
    }
    return frames.map(({ ms, text }) => ({ ms, lines: parseAnsi(replaced(text, recording)) }));
  } finally {
    tmux("kill-server");
  }
}

async function waitFor(wanted: string | RegExp, screen: () => string, onChange: () => void): Promise<void> {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    const text = screen();
    if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return;
    if (Date.now() > end) throw new Error(`The screen never showed ${wanted}:\n${text}`);
    onChange();
    await sleep(POLL_MS);
  }
}

function replaced(text: string, { replace = [] }: Recording): string {
  return replace.reduce((shown, [from, to]) => shown.replaceAll(globalOf(from), to), text);
}

function globalOf(from: string | RegExp): string | RegExp {
  return typeof from === "string" ? from : new RegExp(from.source, `${from.flags.replace("g", "")}g`);
}
