import { spawn } from "node:child_process";

/** The figures that a measuring process printed, or why there are none. */
export type Outcome =
  | { readonly figures: Readonly<Record<string, number>> }
  | { readonly figures: undefined; readonly reason: string };

const MAX_MS = 600_000;

/** Runs a measuring script in a process of its own, so that nothing of one system is left for the next. */
export function runMeasure(script: string, args: readonly string[]): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const child = spawn(process.execPath, ["--expose-gc", "--max-old-space-size=8192", script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: MAX_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  let complaints = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (complaints = (complaints + chunk).slice(-2_000)));
  child.on("error", (error) => resolve({ figures: undefined, reason: error.message }));
  child.on("close", (code, signal) => {
    // Engines may print too: the figures are on the last line.
    const line = output.trimEnd().split("\n").at(-1) ?? "";
    if (code === 0) return resolve({ figures: JSON.parse(line) as Record<string, number> });
    const error = complaints.match(/^\w*Error.*$/m)?.[0] ?? complaints.trim().split("\n").at(-1) ?? "";
    const stopped = signal === "SIGKILL" ? `stopped after ${MAX_MS / 1000} s` : error;
    resolve({ figures: undefined, reason: `${args[0]} failed: ${stopped}` });
  });
  return promise;
}
