import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** One address before several servers. Each request goes to another one. */
export interface Balancer {
  readonly url: string;
  readonly servers: Set<string>;
  /** Resolves when the server is ready, if there is a probe. */
  add(server: string): Promise<void>;
  close(): void;
}

const PROBE_MS = 100;

/** `probe`: the path that says whether a server is ready. Others get no requests, as in front of real gateways. */
export async function startBalancer({ probe }: { readonly probe?: string } = {}): Promise<Balancer> {
  const servers = new Set<string>();
  const waiting = new Set<string>();
  let turn = 0;
  let closed = false;
  const http = createServer((from, to) => void forward(from, to));

  async function forward(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(from)).toString();
    turn += 1;
    const order = [...servers];
    tryNext(from, body, to, [...order.slice(turn % order.length), ...order.slice(0, turn % order.length)]);
  }

  /** Looks at a server until it is gone. */
  async function follow(server: string, path: string): Promise<void> {
    for (let isThere = true; isThere && !closed; await sleep(PROBE_MS)) {
      const answer = await fetch(new URL(path, server)).catch(() => undefined);
      isThere = answer !== undefined || waiting.has(server);
      if (answer?.ok) {
        servers.add(server);
        waiting.delete(server);
      } else servers.delete(server);
    }
  }

  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    servers,
    add: async (server) => {
      if (probe === undefined) return void servers.add(server);
      waiting.add(server);
      void follow(server, probe);
      while (waiting.has(server)) await sleep(PROBE_MS / 5);
    },
    close: () => {
      closed = true;
      http.close();
      http.closeAllConnections();
    },
  };
}

/** A server that refuses the connection got nothing, so the next one may have the request. */
function tryNext(
  from: IncomingMessage,
  body: string,
  to: ServerResponse,
  [first, ...others]: readonly string[],
): void {
  if (first === undefined) {
    to.writeHead(503).end();
    return;
  }
  const { connection: _, ...headers } = from.headers;
  const address = new URL(from.url ?? "", first);
  // The gateway sees its own host: this balancer is on the same machine.
  headers.host = address.host;
  const onward = request(address, { method: from.method ?? "POST", headers, agent: false }, (answer) => {
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(to);
    answer.on("error", () => to.destroy());
  });
  onward.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") tryNext(from, body, to, others);
    else to.destroy();
  });
  // A client that leaves cancels its call.
  to.on("close", () => onward.destroy());
  onward.end(body);
}
