import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The echo tool behind one system. */
export interface EchoSystem {
  readonly name: string;
  echo(text: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts a system and calls its tool. */
interface Program {
  readonly name: string;
  readonly file: string;
  /** `upstream` tells how to reach the echo server. */
  args(transport: "stdio" | "http", upstream: string): readonly string[];
  call(text: string): { readonly name: string; readonly arguments: Record<string, unknown> };
}

const native = (text: string) => ({ name: "echo_get_echo", arguments: { text } });
const exec = (text: string) => ({ name: "exec", arguments: { op: "echo.get_echo", args: { text } } });

const DIRECT: Program = {
  name: "direct",
  file: "echo-server.ts",
  args: (transport) => [transport],
  call: (text) => ({ name: "get_echo", arguments: { text } }),
};
const BARE_PROXY: Program = {
  ...DIRECT,
  name: "bare-proxy",
  file: "bare-proxy-server.ts",
  args: (_, upstream) => [upstream],
};
const KEYHOLE: readonly Program[] = [
  ["keyhole", "native", native] as const,
  ["keyhole-lanes", "lanes", exec] as const,
].flatMap(([name, surface, call]) => [
  { name, file: "keyhole-server.ts", args: (transport, upstream) => [surface, transport, upstream], call },
  { name: inCode(name), file: "keyhole-server.ts", args: (transport) => [surface, transport, "code"], call },
]);

/** Names the variant of a system that has the tool in code instead of behind a server. */
export function inCode(name: string): string {
  return `${name}-code`;
}

export async function stdioSystems(): Promise<EchoSystem[]> {
  return Promise.all([DIRECT, ...KEYHOLE].map(overStdio));
}

async function overStdio({ name, file, args, call }: Program): Promise<EchoSystem> {
  const client = newClient();
  const command = [resolve(import.meta.dirname, file), ...args("stdio", "server")];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command }));
  return { name, echo: (text) => echo(client, call(text)), close: () => client.close() };
}

/** Starts the systems over HTTP: one echo server, called directly, by a bare proxy and by the gateways. */
export async function httpSystems() {
  const upstream = await startHttp(DIRECT, "");
  const direct = { program: DIRECT, ...upstream };
  const others = await Promise.all(
    [BARE_PROXY, ...KEYHOLE].map(async (program) => ({
      program,
      ...(await startHttp(program, upstream.url)),
    })),
  );
  const all = [direct, ...others];
  return {
    systems: await Promise.all(all.map(({ program, url }) => connectHttp(program, url))),
    /** Connects one more client to a system. */
    connect: (name: string) => {
      const { program, url } = all.find((started) => started.program.name === name)!;
      return connectHttp(program, url);
    },
    stop: async () => {
      for (const { child } of all) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    },
  };
}

async function startHttp(
  { file, args }: Program,
  upstream: string,
): Promise<{ child: ChildProcess; url: string }> {
  const command = [resolve(import.meta.dirname, file), ...args("http", upstream)];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}

async function connectHttp({ name, call }: Program, url: string): Promise<EchoSystem> {
  const client = newClient();
  const headers = { authorization: "Bearer benchmark" };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return { name, echo: (text) => echo(client, call(text)), close: () => client.close() };
}

function newClient(): Client {
  return new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
}

async function echo(client: Client, call: ReturnType<Program["call"]>): Promise<string> {
  const { content, isError } = await client.callTool(call);
  const text = content[0]?.type === "text" ? content[0].text : "";
  if (isError) throw new Error(text);
  // The lanes surface puts the op before the text, and marks text of others.
  return text.replace(/^[\w.]+: /, "").replace(/^<untrusted echo>(.*)<\/untrusted>$/s, "$1");
}
