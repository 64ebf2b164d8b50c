import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { programEnv } from "../program-env.ts";
import { MAIN } from "../threats/program.ts";

/** The program as it serves HTTP. */
export interface RunningProgram {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that it printed. */
  printed(): string;
  /** Calls an op. Returns the status and the answer as text. */
  call(op: string, args?: object): Promise<{ status: number; text: string }>;
}

export interface StartOptions {
  readonly home: string;
  readonly config: string;
  /** A command that starts the program, such as `prlimit`. */
  readonly through?: readonly string[];
}

const TOKEN = "t";
const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

/** Starts `keyhole serve --http` and waits until it listens. */
export async function startProgram({ home, config, through = [] }: StartOptions): Promise<RunningProgram> {
  const flags = ["serve", "--http", "--trust", "--allow-write", "--config", config];
  const [command = "", ...args] = [...through, process.execPath, MAIN, ...flags];
  const child = spawn(command, args, {
    cwd: home,
    env: { ...programEnv(home), KEYHOLE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        printed += chunk;
        const found = /listens at (\S+)/.exec(printed)?.[1];
        if (found) resolve(found);
      });
    }
    child.once("exit", (code) => reject(new Error(`It ended with ${code}: ${printed}`)));
  });
  return {
    url,
    child,
    printed: () => printed,
    call: async (op, args = {}) => {
      const params = { name: "exec", arguments: { op, args } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const answer = await fetch(url, { method: "POST", headers: HEADERS, body });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

/** Resolves to the exit code of a process. */
export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const [code] = await once(child, "exit");
  return code as number | null;
}
