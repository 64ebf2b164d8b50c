// Records a program in a real terminal (tmux) and makes an animated SVG of it: recordTerminal(…) then toSvg(…).
import { setTimeout as sleep } from "node:timers/promises";
import { type Cell, parseAnsi } from "./terminal/parse-ansi.ts";
import { openTmux, type TmuxOptions } from "./terminal/tmux.ts";

/** One thing that the person does. Each step ends with a frame. */
export type Step =
  /** Types a text, word by word. */
  | { readonly type: string }
  /** Presses keys by tmux's names for them, such as Enter. */
  | { readonly press: readonly string[]; readonly hold?: number }
  /** Waits until the screen shows a text, with frames of everything on the way. */
  | { readonly sees: string | RegExp; readonly hold?: number };

export interface Recording extends TmuxOptions {
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

/** Runs a command in a terminal and takes a frame of every screen that differs. Throws with the screen if it waits in vain. */
export async function recordTerminal(recording: Recording): Promise<Frame[]> {
  const terminal = openTmux(recording);
  const frames: { ms: number; text: string }[] = [];
  const take = (ms: number) => {
    const text = terminal.screen();
    const last = frames.at(-1);
    if (last?.text === text) last.ms = Math.max(last.ms, ms);
    else frames.push({ ms, text });
  };
  try {
    for (const step of recording.steps) {
      if ("type" in step) {
        for (const word of step.type.split(/(?<= )/)) {
          terminal.type(word);
          await sleep(POLL_MS);
          take(WORD_MS);
        }
      } else if ("press" in step) {
        terminal.press(...step.press);
        await sleep(POLL_MS);
        take(step.hold ?? CHANGE_MS);
      } else {
        await terminal.waitFor(step.sees, () => take(CHANGE_MS));
        take(step.hold ?? HOLD_MS);
      }
    }
    return frames.map(({ ms, text }) => ({ ms, lines: parseAnsi(replaced(text, recording)) }));
  } finally {
    terminal.close();
  }
}

function replaced(text: string, { replace = [] }: Recording): string {
  return replace.reduce((shown, [from, to]) => shown.replaceAll(globalOf(from), to), text);
}

function globalOf(from: string | RegExp): string | RegExp {
  return typeof from === "string" ? from : new RegExp(from.source, `${from.flags.replace("g", "")}g`);
}
