import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";

const HASH_CHARS = 16;

export interface Confirmation {
  readonly operation: string;
  /** Names the consent that is asked for, such as `Approving definitions`. */
  readonly action: string;
  /** Identifies exactly what was shown. */
  readonly hash: string;
  /** The hash that the person repeats with `--hash`. */
  readonly given: string | undefined;
}

/** The part of a hash that people see and repeat. */
export function shortHash(hash: string): string {
  return hash.slice(0, HASH_CHARS);
}

/** Whether a person sits at both ends. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * Checks without a terminal that a person has agreed to what was shown: `--hash` repeats its hash.
 *
 * @throws PERSON_NEEDED without `--hash`. INVALID_INPUT if it names another hash.
 */
export function checkHash({ operation, action, hash, given }: Confirmation): void {
  if (given === undefined) throw problem("PERSON_NEEDED", { action });
  if (given === shortHash(hash) || given === hash) return;
  const reason = "--hash does not match what was shown; copy the hash printed above";
  throw problem("INVALID_INPUT", { operation, reason });
}

/** Asks the person in the terminal. Anything but yes is no, and so is what was typed before the question. */
export async function askYesOrNo(question: string): Promise<boolean> {
  return isYes(await askLine(`${question} [y/N] `));
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

/** Asks the person in the terminal for a line. What was typed before the question is no answer. */
export async function askLine(question: string): Promise<string> {
  await dropTyped();
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = once(reader, "close").then(() => "");
    return (await Promise.race([reader.question(question), closed])).trim();
  } finally {
    reader.close();
  }
}

const TYPED_MS = 100;

/** Drops what was typed before: raw mode also hands over a line that is not finished. */
async function dropTyped(): Promise<void> {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  const onData = (typed: Buffer) => {
    // Raw mode turns Ctrl-C into a byte.
    if (typed.includes(3)) process.kill(process.pid, "SIGINT");
  };
  stdin.setRawMode(true).on("data", onData).resume();
  await sleep(TYPED_MS);
  stdin.off("data", onData).pause().setRawMode(false);
}
