import type { Server } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway.ts";
import type { Principal } from "../schema/principal.ts";
import type { Change } from "./changes.ts";
import type { Connection } from "./protocol-server.ts";

/** Connections that last longer than a request, to be told of changes. */
export interface Connections {
  add(
    caller: { readonly era: "legacy" | "modern"; readonly principal?: Principal | undefined },
    make: (connection: Connection) => Promise<Server>,
  ): Promise<Server>;
  publish(change: Change): void;
}

/** A session that has idled for half an hour is gone; a connection may idle for longer. */
const RENEW_MS = 25 * 60_000;

export function createConnections(gateway: Gateway): Connections {
  const open = new Map<Server, Connection>();
  return {
    add: async ({ era, principal }, make) => {
      const connection: Connection = {
        subscribed: new Set(),
        ...(era === "legacy" && { session: conversation(gateway, principal) }),
      };
      const server = await make(connection);
      open.set(server, connection);
      server.onclose = () => void open.delete(server);
      return server;
    },
    publish: ({ tools, updated }) => {
      for (const [server, { subscribed }] of open) {
        const uris = updated.filter((uri) => subscribed.has(uri));
        const notices = [
          ...(tools ? [() => server.sendToolListChanged()] : []),
          () => server.sendPromptListChanged(),
          () => server.sendResourceListChanged(),
          ...uris.map((uri) => () => server.sendResourceUpdated({ uri })),
        ];
        // A client that is not there yet, or no longer, is not told.
        for (const notice of notices) notice().catch(() => {});
      }
    },
  };
}

function conversation(gateway: Gateway, principal: Principal | undefined): () => string {
  let handle: string | undefined;
  let used = 0;
  return () => {
    const now = performance.now();
    if (handle === undefined || now - used > RENEW_MS) {
      handle = gateway.openSession(principal && { principal });
    }
    used = now;
    return handle;
  };
}
