import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface LoopbackApi {
  readonly url: string;
  readonly host: string;
  readonly seen: Seen[];
  /** Answers a request. Tests replace it. */
  answer: (request: Seen, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** A real server on loopback that records its requests. */
export async function startLoopbackApi(): Promise<LoopbackApi> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const seen = { method, url, headers, body: Buffer.concat(chunks) };
      api.seen.push(seen);
      api.answer(seen, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const api: LoopbackApi = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    seen: [],
    answer: (_, response) => sendJson(response, { ok: true }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return api;
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}
