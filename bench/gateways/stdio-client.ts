import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Start } from "./gateway-peer.ts";

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

interface Listing {
  readonly tools: readonly ListedTool[];
  readonly instructions: string;
}

/** The smallest client: it adds nothing to what it measures, and every server understands its revision. */
export interface StdioClient {
  /** Greets the server and lists its tools. */
  list(): Promise<Listing>;
  /** The text of a result. Throws if it is an error. */
  call(name: string, args: object): Promise<string>;
  close(): Promise<void>;
}

const REVISION = "2025-06-18";
const CLOSE_MS = 5_000;

export function connectStdio({ command, args, cwd, env }: Start): StdioClient {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const request = requester(child);
  return {
    list: async () => {
      const clientInfo = { name: "bench", version: "1" };
      const params = { protocolVersion: REVISION, capabilities: {}, clientInfo };
      const { instructions = "" } = await request("initialize", params);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
      const { tools } = await request("tools/list", {});
      return { tools, instructions } as Listing;
    },
    call: async (name, given) => {
      const { content = [], isError } = (await request("tools/call", { name, arguments: given })) as {
        content?: { text?: string }[];
        isError?: boolean;
      };
      const text = content.flatMap((block) => block.text ?? []).join("\n");
      if (isError) throw new Error(`${name}: ${text}`);
      return text;
    },
    close: () => end(child),
  };
}

type Result = Record<string, unknown>;

function requester(child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<Result>>();
  let last = 0;
  const fail = () => {
    for (const { reject } of waiting.values()) reject(new Error("The server has ended."));
  };
  child.once("exit", fail);
  child.once("error", fail);
  child.stdin!.on("error", fail);
  createInterface({ input: child.stdout! }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const { id, method, result, error } = JSON.parse(line);
    if (method !== undefined || !waiting.has(id)) return;
    const { resolve, reject } = waiting.get(id)!;
    waiting.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  });
  return (method: string, params: object): Promise<Result> => {
    const id = ++last;
    const answer = Promise.withResolvers<Result>();
    waiting.set(id, answer);
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer.promise;
  };
}

/** Ends a server as clients do: its input first, then a signal. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.stdin!.end();
  const terminate = setTimeout(() => child.kill("SIGTERM"), CLOSE_MS / 2);
  const kill = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
  await exit;
  clearTimeout(terminate);
  clearTimeout(kill);
}
