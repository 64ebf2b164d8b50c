import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";

const HASH_CHARS = 16;

export interface Confirmation {
  readonly operation: string;
  /** Names the consent that is asked for, such as `Approving definitions`. */
  readonly action: string;
  readonly question: string;
  /** Identifies exactly what was shown. */
  readonly hash: string;
  readonly yes?: string | undefined;
  /** Printed when the person says no, which makes the exit code 1. */
  readonly refusal?: string;
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
 * Asks the person in the terminal to agree to what was shown. Without a terminal, `--yes` has to repeat its hash.
 *
 * @throws PERSON_NEEDED without a terminal and `--yes`. INVALID_INPUT if `--yes` names another hash.
 */
export async function confirm(asked: Confirmation): Promise<boolean> {
  const { operation, action, question, hash, yes, refusal } = asked;
  if (yes !== undefined) {
    if (yes === shortHash(hash) || yes === hash) return true;
    throw problem("INVALID_INPUT", { operation, reason: "--yes names another hash than that of the list" });
  }
  if (!hasTerminal()) throw problem("PERSON_NEEDED", { action });
  const isAgreed = await askYesOrNo(question);
  if (!isAgreed && refusal !== undefined) {
    process.exitCode = 1;
    console.log(refusal);
  }
  return isAgreed;
}

/** Asks the person in the terminal. Anything but yes is no. */
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
