import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isSameSecret } from "../../../base/safety/same-secret.ts";

const PATH = "/callback";
const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  connection: "close",
};

/** Listens on 127.0.0.1 for the answer of a login. Accepts one request with the right state and refuses all others. */
export async function openCallback(state: string, port: number) {
  const { promise: answered, resolve } = Promise.withResolvers<URLSearchParams>();
  let used = false;
  let host = "";
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", `http://${host}`);
    const isAnswer =
      request.method === "GET" &&
      request.headers.host === host &&
      url?.pathname === PATH &&
      isSameSecret(url.searchParams.get("state") ?? "", state);
    if (!isAnswer || used) return void response.writeHead(400, HEADERS).end("This is not a login.\n");
    used = true;
    response.writeHead(200, HEADERS).end("Keyhole has got the answer. You may close this page.\n");
    resolve(url.searchParams);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUrl: `http://${host}${PATH}`,
    answered,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      // Gives the browser time to load the page.
      setTimeout(() => server.closeAllConnections(), 1_000).unref();
      await closed;
    },
  };
}
