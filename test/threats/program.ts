import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openTerminal } from "../tmux.ts";

export const MAIN = resolve("src/program/main.ts");
const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A server that answers, as an entry of an mcp.json. */
export function chaos(env: Readonly<Record<string, string>> = {}): object {
  return { command: process.execPath, args: [CHAOS], env };
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** The program in a home and a folder of its own. */
export interface Program {
  readonly home: string;
  readonly folder: string;
  /** Writes a file of the folder, JSON unless it is a text. Returns its path. */
  write(path: string, content: unknown): string;
  /** Runs the program without a terminal until it ends. */
  keyhole(...args: string[]): Promise<Ended>;
  /** Runs the program in a terminal. */
  terminal(...args: string[]): ReturnType<typeof openTerminal>;
  /** Serves over stdio. Returns a way to call tools. */
  serve(...args: string[]): Promise<(name: string, args: Record<string, unknown>) => Promise<string>>;
  /** Serves over stdio. Returns the client, whose person answers forms if it can show them. */
  client(person: ((question: string) => boolean) | undefined, ...args: string[]): Promise<Client>;
}

export interface ProgramOptions {
  readonly home?: string;
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function openProgram(options: ProgramOptions = {}): Program {
  const { home = temporaryFolder(), folder = temporaryFolder() } = options;
  const env = { ...programEnv(home), ...options.env };
  const client: Program["client"] = async (person, ...args) => {
    const capabilities = person ? { elicitation: { form: {} } } : {};
    const connected = new Client({ name: "test", version: "1" }, { capabilities });
    if (person)
      connected.setRequestHandler("elicitation/create", async ({ params }) =>
        person(params.message) ? { action: "accept", content: { approve: true } } : { action: "decline" },
      );
    const command = { command: process.execPath, args: [MAIN, "serve", ...args] };
    await connected.connect(new StdioClientTransport({ ...command, cwd: folder, env, stderr: "ignore" }));
    onTestFinished(() => connected.close());
    return connected;
  };
  return {
    home,
    folder,
    write: (path, content) => {
      const full = join(folder, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content));
      return full;
    },
    keyhole: async (...args) => {
      const child = spawn(process.execPath, [MAIN, ...args], {
        cwd: folder,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, errors] = ["", ""];
      child.stdout.on("data", (chunk) => {
        out += chunk;
      });
      child.stderr.on("data", (chunk) => {
        errors += chunk;
      });
      const [code] = await once(child, "close");
      return { code: Number(code), out, errors };
    },
    terminal: (...args) => openTerminal([process.execPath, MAIN, ...args], { folder, env, lingers: true }),
    client,
    serve: async (...args) => {
      const connected = await client(undefined, ...args);
      return (name, given) => callText(connected, name, given);
    },
  };
}

/** The text of a tool's answer. */
export async function callText(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[])[0]?.text ?? "";
}

/** Agrees without a terminal to exactly what `keyhole approve` shows. */
export async function agree({ keyhole }: Pick<Program, "keyhole">, ...words: string[]): Promise<Ended> {
  const { out } = await keyhole("approve", ...words);
  return keyhole("approve", ...words, "--hash", listedHash(out));
}

/** The hash that a listing shows to be repeated with --hash. */
export function listedHash(text: string): string {
  return /\bHash: ([0-9a-f]{16})\b/.exec(text)?.[1] ?? "no hash was listed";
}
