import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One address before several servers. Each request goes to another one. */
export interface Balancer {
  readonly url: string;
  readonly servers: Set<string>;
  close(): void;
}

export async function startBalancer(): Promise<Balancer> {
  const servers = new Set<string>();
  let turn = 0;
  const http = createServer((from, to) => void forward(from, to));

  async function forward(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(from)).toString();
    turn += 1;
    const order = [...servers];
    tryNext(from, body, to, [...order.slice(turn % order.length), ...order.slice(0, turn % order.length)]);
  }

  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    servers,
    close: () => {
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
  const { host: _, connection: __, ...headers } = from.headers;
  const onward = request(first, { method: from.method ?? "POST", headers, agent: false }, (answer) => {
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(to);
    answer.on("error", () => to.destroy());
  });
  onward.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") tryNext(from, body, to, others);
    else to.destroy();
  });
  onward.end(body);
}
