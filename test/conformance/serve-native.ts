import type { Gateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";

export const OWNER = { id: "owner", scopes: [], allowWrite: true };

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves all entries of a gateway as native tools, for the conformance suite. */
export async function serveNative(gateway: Gateway): Promise<Served> {
  const server = createMcpServer(gateway, { surface: "native", nativeNames: "names", debounceMs: 20 });
  // The suite sends no token, and calls faster than a person's client would.
  const http = await serveHttp(server, {
    authenticate: async () => OWNER,
    limits: { ratePerSecond: 10_000, burst: 10_000 },
  });
  return {
    url: http.url,
    close: async () => {
      await http.close();
      await server.close();
      await gateway.close();
    },
  };
}
