import type { Server } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway-api.ts";
import type { Principal } from "../schema/principal.ts";
import type { Change } from "./changes.ts";
import type { Connection } from "./protocol-server.ts";

/** Connections that outlast a request and hear of changes. */
export interface Connections {
  add(
    caller: { readonly era: "legacy" | "modern"; readonly principal?: Principal | undefined },
    make: (connection: Connection) => Promise<Server>,
  ): Promise<Server>;
  publish(change: Change): void;
}

export function createConnections(gateway: Gateway): Connections {
  const open = new Map<Server, Connection>();
  return {
    add: async ({ era, principal }, make) => {
      const session = era === "legacy" ? conversation(gateway, principal) : undefined;
      const connection: Connection = {
        subscribed: new Set(),
        ...(session && { session: session.handle }),
      };
      const server = await make(connection);
      open.set(server, connection);
      server.onclose = () => {
        open.delete(server);
        session?.end();
      };
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
        // A client that is not connected yet, or no longer, misses the notice.
        for (const notice of notices) notice().catch(() => {});
      }
    },
  };
}

/** The session of a connection. A new one replaces it after it has expired. */
interface Conversation {
  readonly handle: () => string;
  end(): void;
}

function conversation(gateway: Gateway, principal: Principal | undefined): Conversation {
  let handle: string | undefined;
  return {
    handle: () => {
      handle = gateway.openSession({ ...(principal && { principal }), resume: handle });
      return handle;
    },
    end: () => {
      if (handle === undefined) return;
      try {
        gateway.session(handle, principal && { principal }).end();
      } catch {
        // The session has already ended.
      }
    },
  };
}
