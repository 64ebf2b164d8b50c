import { Console } from "node:console";
import { runProgram } from "../../src/program/program.ts";

export interface Outcome {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
}

/** Thrown in place of the end of the process. */
class Exit extends Error {}

/** Variables that move folders or change answers; a test starts without them. */
const CLEARED = [
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_CACHE_HOME",
  "KEYHOLE_STATE",
  "KEYHOLE_URL",
  "KEYHOLE_TOKEN",
];

/**
 * Runs a command of the program in this process, without a terminal, for a person with this home folder, who stands
 * in it. Far faster than a process of its own.
 */
export async function keyhole(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const before = { env: { ...process.env }, folder: process.cwd(), code: process.exitCode };
  const real = {
    console: globalThis.console,
    exit: process.exit,
    out: process.stdout.write,
    errors: process.stderr.write,
    listeners: process.listeners("uncaughtException"),
    stdin: process.stdin.isTTY,
    stdout: process.stdout.isTTY,
  };
  let [out, errors] = ["", ""];
  let code: number | undefined;
  for (const name of CLEARED) delete process.env[name];
  Object.assign(process.env, { HOME: home }, env);
  process.chdir(home);
  process.exitCode = undefined;
  process.stdin.isTTY = false;
  process.stdout.isTTY = false;
  process.stdout.write = (chunk: unknown, ...[done]: unknown[]) => {
    out += String(chunk);
    if (typeof done === "function") done();
    return true;
  };
  process.stderr.write = (chunk: unknown) => {
    errors += String(chunk);
    return true;
  };
  process.exit = (given) => {
    code ??= Number(given ?? process.exitCode ?? 0);
    throw new Exit();
  };
  try {
    globalThis.console = new Console(process.stdout, process.stderr);
    await runProgram(args).catch((error: unknown) => {
      if (!(error instanceof Exit)) throw error;
    });
    code ??= Number(process.exitCode ?? 0);
  } finally {
    process.stdout.write = real.out;
    process.stderr.write = real.errors;
    process.exit = real.exit;
    globalThis.console = real.console;
    process.stdin.isTTY = real.stdin;
    process.stdout.isTTY = real.stdout;
    process.removeAllListeners("uncaughtException");
    for (const listener of real.listeners) process.on("uncaughtException", listener);
    process.exitCode = before.code;
    process.chdir(before.folder);
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
  }
  return { out, errors, code };
}
