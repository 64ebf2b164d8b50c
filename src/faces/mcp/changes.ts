import type { Server, ServerEvent } from "@modelcontextprotocol/server";
import type { Entry } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { Listings, ToolListing } from "./listing.ts";
import type { ServerConnection } from "./protocol-server.ts";
import { isDocument, uriOf } from "./resources.ts";

/** A client that is told how its own view of the catalog changes. */
interface Subscriber {
  /** Changes that this principal cannot see are not told. */
  principal(): Principal | undefined;
  onChange(events: readonly ServerEvent[]): void;
}

interface ChangeFollower {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly debounceMs: number;
  readonly onError: (error: Error) => void;
}

/** Everything that one client can see. */
type ClientSnapshot = Awaited<ReturnType<Listings["for"]>>;

export type ChangeNotices = ReturnType<typeof followChanges>;

const MAX_UPDATED = 1_000;

/** Tells each client how its own view of the catalog changes. Changes in quick succession count as one. */
export function followChanges({ gateway, listings, debounceMs, onError }: ChangeFollower) {
  let timer: NodeJS.Timeout | undefined;
  /** The snapshot that a subscriber was told of last; undefined if it could not be taken. */
  const subscribers = new Map<Subscriber, Promise<ClientSnapshot | undefined>>();

  function remember(subscriber: Subscriber, snapshot: Promise<ClientSnapshot>): void {
    subscribers.set(
      subscriber,
      snapshot.catch(() => undefined),
    );
  }

  async function report(
    subscriber: Subscriber,
    before: Promise<ClientSnapshot | undefined>,
    compare: typeof toEvents,
  ): Promise<void> {
    const now = listings.for(subscriber.principal());
    if (subscribers.has(subscriber)) remember(subscriber, now);
    const [old, next] = await Promise.all([before, now]);
    if (!old || old.listing.version === next.listing.version || !subscribers.has(subscriber)) return;
    subscriber.onChange(compare(old, next));
  }

  function reportAll(): void {
    const compare = comparingOnce();
    for (const [subscriber, before] of subscribers) void report(subscriber, before, compare).catch(onError);
  }

  const stop = gateway.onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(reportAll, debounceMs);
    timer.unref();
  });
  return {
    /** Returns unsubscribe. */
    add: (subscriber: Subscriber): (() => void) => {
      remember(subscriber, listings.for(subscriber.principal()));
      return () => void subscribers.delete(subscriber);
    },
    close: () => {
      clearTimeout(timer);
      stop();
      subscribers.clear();
    },
  };
}

/** Clients with the same listings share one comparison. */
function comparingOnce(): typeof toEvents {
  const compared = new Map<ToolListing, { readonly now: ToolListing; readonly events: ServerEvent[] }>();
  return (before, now) => {
    const last = compared.get(before.listing);
    if (last?.now === now.listing) return last.events;
    const events = toEvents(before, now);
    compared.set(before.listing, { now: now.listing, events });
    return events;
  };
}

function toEvents(before: ClientSnapshot, now: ClientSnapshot): ServerEvent[] {
  const whenDiffers = (kind: ListKind, part: (listing: ToolListing) => unknown): ServerEvent[] =>
    JSON.stringify(part(before.listing)) === JSON.stringify(part(now.listing)) ? [] : [{ kind }];
  const old = new Map(before.view.entries.filter(isDocument).map((entry) => [uriOf(entry), entry]));
  const updated = now.view.entries
    .filter(isDocument)
    .filter((entry) => differs(old.get(uriOf(entry)), entry));
  return [
    // The first fill changes descriptions, which is not worth a prompt cache.
    ...whenDiffers("tools_list_changed", ({ tools }) =>
      before.view.starting.size > 0 ? tools.map(({ name }) => name) : tools,
    ),
    ...whenDiffers("prompts_list_changed", ({ prompts }) => prompts),
    ...whenDiffers("resources_list_changed", ({ resources, templates, skills }) => [
      resources,
      templates,
      skills,
    ]),
    ...updated
      .slice(0, MAX_UPDATED)
      .map((entry) => ({ kind: "resource_updated" as const, uri: uriOf(entry) })),
  ];
}

function differs(before: Entry | undefined, now: Entry): boolean {
  if (!before) return false;
  return before.content !== now.content || before.description !== now.description || before.name !== now.name;
}

/** Opens an endpoint that outlasts a request and is told of changes. */
export async function openConnection(
  gateway: Gateway,
  changes: ChangeNotices,
  {
    session: keptSession,
    ...caller
  }: Pick<ServerConnection, "revision" | "followSdk" | "principal" | "folder"> & {
    readonly session?: KeptSession | undefined;
  },
  createServer: (connection: ServerConnection) => Promise<Server>,
  onClosed: (connection: ServerConnection) => void,
): Promise<Server> {
  const isLegacy = caller.revision === "legacy";
  const session = isLegacy ? createClientSession(gateway, caller.principal, keptSession) : undefined;
  const connection: ServerConnection = {
    ...caller,
    subscribed: new Set(),
    ...(session && { session: session.handle }),
  };
  const server = await createServer(connection);
  let unsubscribe = () => {};
  const subscribe = () => {
    unsubscribe();
    unsubscribe = changes.add({
      principal: () => connection.principal,
      onChange: (events) => notify(server, connection, events),
    });
  };
  // A client of the older protocol may not be told anything before it says that it is initialized.
  if (isLegacy) server.oninitialized = subscribe;
  else subscribe();
  server.onclose = () => {
    unsubscribe();
    onClosed(connection);
    void session?.end();
  };
  return server;
}

type ListKind = keyof typeof LIST_METHODS;

const LIST_METHODS = {
  tools_list_changed: "notifications/tools/list_changed",
  prompts_list_changed: "notifications/prompts/list_changed",
  resources_list_changed: "notifications/resources/list_changed",
} as const;

function notify(server: Server, { subscribed }: ServerConnection, events: readonly ServerEvent[]): void {
  for (const event of events) {
    const isUpdate = event.kind === "resource_updated";
    if (isUpdate && !subscribed.has(event.uri)) continue;
    const sent = isUpdate
      ? server.sendResourceUpdated({ uri: event.uri })
      : server.notification({ method: LIST_METHODS[event.kind] });
    // A client that is no longer connected misses the notice.
    sent.catch(() => {});
  }
}

/** The handle of a client's session, kept beyond its connection. */
export interface KeptSession {
  read(): Promise<string | undefined>;
  keep(handle: string): Promise<unknown>;
}

/** The session of a connection. A new one replaces it after it has expired. */
function createClientSession(
  gateway: Gateway,
  principal: Principal | undefined,
  keptSession: KeptSession | undefined,
) {
  const whose = principal ? { principal } : {};
  // Each caller waits for the one before, so that all of them get the same session.
  let opened: Promise<string | undefined> = keptSession?.read() ?? Promise.resolve(undefined);
  return {
    handle: (): Promise<string> => {
      const handle = opened.then(async (resume) => {
        const session = await gateway.openSession({ ...whose, resume });
        if (session !== resume) await keptSession?.keep(session);
        return session;
      });
      opened = handle.catch(() => undefined);
      return handle;
    },
    end: async () => {
      const handle = await opened;
      if (handle === undefined || keptSession) return;
      const session = gateway.session(handle, whose);
      // The session may have ended already.
      await session.then((open) => open.end()).catch(() => {});
    },
  };
}
