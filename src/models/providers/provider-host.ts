import { execFile } from "node:child_process";
import { type Clock, systemClock } from "../../util/clock.ts";

/** Runs a program without a shell and returns its output; undefined if it is missing or fails. */
export type RunCommand = (program: string, args: readonly string[]) => Promise<string | undefined>;

/** The machine around a provider: its variables, programs and clock. Tests replace parts of it. */
export interface ProviderHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunCommand;
  readonly clock: Clock;
  /** A request fails with TIMEOUT if the server sends nothing for so long. */
  readonly idleMs: number;
  /** Loads the SDK of Foundry Local. */
  readonly importFoundryLocal: () => Promise<unknown>;
}

export const FOUNDRY_LOCAL = "foundry-local-sdk";

const TIME_LIMIT_MS = 30_000;
/** Reasoning models may think for minutes before they send anything. */
export const DEFAULT_IDLE_MS = 300_000;
const MAX_OUTPUT_BYTES = 1_000_000;

export const runCommand: RunCommand = (program, args) =>
  new Promise((resolve) => {
    const options = { timeout: TIME_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, shell: false };
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });

export function createHost(given: Partial<ProviderHost> = {}): ProviderHost {
  // Not a literal, so that bundlers do not look for a package that Keyhole is built without.
  const foundryLocal: string = FOUNDRY_LOCAL;
  return {
    env: process.env,
    run: runCommand,
    clock: systemClock,
    idleMs: DEFAULT_IDLE_MS,
    importFoundryLocal: () => import(foundryLocal),
    ...given,
  };
}
