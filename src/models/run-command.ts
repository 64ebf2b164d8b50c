import { execFile } from "node:child_process";

/** Runs a program and answers with what it printed; undefined if it is not there or did not end well. */
export type RunCommand = (program: string, args: readonly string[]) => Promise<string | undefined>;

const TIME_LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 1_000_000;

/** Without a shell: the arguments are passed as they are. */
export const runCommand: RunCommand = (program, args) =>
  new Promise((resolve) => {
    const options = { timeout: TIME_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, shell: false };
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });
