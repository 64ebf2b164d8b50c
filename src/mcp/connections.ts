import type { Server } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway-api.ts";
import type { Principal } from "../schema/principal.ts";
import type { Change, Changes } from "./changes.ts";
import type { Connection } from "./protocol-server.ts";

/** Connections that outlast a request and hear of changes. */
export interface Connections {
  add(
    caller: Pick<Connection, "era" | "lane"> & { readonly principal?: Principal | undefined },
    make: (connection: Connection) => Promise<Server>,
  ): Promise<Server>;
}

export function createConnections(gateway: Gateway, changes: Changes): Connections {
  return {
    add: async ({ era, lane, principal }, make) => {
      const session = era === "legacy" ? conversation(gateway, principal) : undefined;
      const connection: Connection = {
        principal,
        era,
        lane,
        subscribed: new Set(),
        ...(session && { session: session.handle }),
      };
      const server = await make(connection);
      let stopHearing = () => {};
      const startHearing = () => {
        stopHearing();
        stopHearing = changes.add({
          principal: () => connection.principal,
          hear: (change) => notify(server, connection, change),
        });
      };
      // A client of the older protocol may not be told anything before it says that it is initialized.
      if (era === "legacy") server.oninitialized = startHearing;
      else startHearing();
      server.onclose = () => {
        stopHearing();
        void session?.end();
      };
      return server;
    },
  };
}

function notify(server: Server, { subscribed }: Connection, change: Change): void {
  const notices = [
    ...(change.tools ? [() => server.sendToolListChanged()] : []),
    ...(change.prompts ? [() => server.sendPromptListChanged()] : []),
    ...(change.resources ? [() => server.sendResourceListChanged()] : []),
    ...change.updated
      .filter((uri) => subscribed.has(uri))
      .map((uri) => () => server.sendResourceUpdated({ uri })),
  ];
  // A client that is no longer connected misses the notice.
  for (const notice of notices) notice().catch(() => {});
}

/** The session of a connection. A new one replaces it after it has expired. */
interface Conversation {
  readonly handle: () => Promise<string>;
  end(): Promise<void>;
}

function conversation(gateway: Gateway, principal: Principal | undefined): Conversation {
  const whose = principal ? { principal } : {};
  // Each caller waits for the one before, so that all of them get the same session.
  let opened: Promise<string | undefined> = Promise.resolve(undefined);
  return {
    handle: () => {
      const handle = opened.then((resume) => gateway.openSession({ ...whose, resume }));
      opened = handle.catch(() => undefined);
      return handle;
    },
    end: async () => {
      const handle = await opened;
      if (handle === undefined) return;
      try {
        await (await gateway.session(handle, whose)).end();
      } catch {
        // The session has already ended.
      }
    },
  };
}
