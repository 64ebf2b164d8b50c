import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The echo tool, as it is reached through one system. */
export interface EchoSystem {
  readonly name: string;
  echo(text: string): Promise<string>;
  close(): Promise<void>;
}

/** How a system is started, and how its tool is called. */
interface Program {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  call(text: string): { readonly name: string; readonly arguments: Record<string, unknown> };
}

const DIRECT: Program = {
  name: "direct",
  file: "echo-server.ts",
  args: [],
  call: (text) => ({ name: "get_echo", arguments: { text } }),
};
const THROUGH: readonly Program[] = [
  {
    name: "keyhole",
    file: "keyhole-server.ts",
    args: ["native"],
    call: (text) => ({ name: "echo_get_echo", arguments: { text } }),
  },
  {
    name: "keyhole-lanes",
    file: "keyhole-server.ts",
    args: ["lanes"],
    call: (text) => ({ name: "exec", arguments: { op: "echo.get_echo", args: { text } } }),
  },
];

export async function stdioSystems(): Promise<EchoSystem[]> {
  return Promise.all([DIRECT, ...THROUGH].map(overStdio));
}

async function overStdio({ name, file, args, call }: Program): Promise<EchoSystem> {
  const client = newClient();
  const command = [resolve(import.meta.dirname, file), ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command }));
  return { name, echo: (text) => echo(client, call(text)), close: () => client.close() };
}

/** Systems over HTTP: one echo server, called directly and by the gateways. */
export async function httpSystems() {
  const upstream = await startHttp({ ...DIRECT, args: ["http"] });
  const direct = { program: DIRECT, ...upstream };
  const through = await Promise.all(
    THROUGH.map(async (program) => {
      const started = await startHttp({ ...program, args: [...program.args, upstream.url] });
      return { program, ...started };
    }),
  );
  const all = [direct, ...through];
  return {
    systems: await Promise.all(all.map(({ program, url }) => connectHttp(program, url))),
    /** One more client of a system. */
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

async function startHttp({ file, args }: Program): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, file), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
  // The surface with lanes says which op answered.
  return text.replace(/^[\w.]+: /, "");
}
