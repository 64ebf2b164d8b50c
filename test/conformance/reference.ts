import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createGateway } from "keyhole";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { type Served, serveNative } from "./serve-native.ts";

const REFERENCE = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const START_MS = 20_000;

/** Starts the reference server of the MCP project over Streamable HTTP. */
export async function serveReference(): Promise<Served> {
  const port = await freePort();
  const child = spawn(process.execPath, [REFERENCE, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await untilAnswers(url);
  return {
    url,
    close: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Serves a server through the `native` surface of a gateway that trusts it. */
export async function serveThrough(url: string): Promise<Served> {
  const source = createMcpSource("behind", { url }, { trusted: true });
  const gateway = createGateway({ domains: [], sources: [source] });
  await source.refresh();
  return serveNative(gateway);
}

async function untilAnswers(url: string): Promise<void> {
  const end = performance.now() + START_MS;
  while (performance.now() < end) {
    const answered = await fetch(url, { method: "POST", body: "{}" }).catch(() => undefined);
    await answered?.body?.cancel();
    if (answered) return;
    await setTimeout(50);
  }
  throw new Error(`the reference server does not answer at ${url}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
