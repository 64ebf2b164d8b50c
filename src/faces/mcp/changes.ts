import type { Server } from "@modelcontextprotocol/server";
import type { Entry } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { Listings, ToolListing } from "./listing.ts";
import type { ServerConnection } from "./protocol-server.ts";
import { isDocument, uriOf } from "./resources.ts";

/** A change of the catalog as one client sees it. */
export interface Change {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** URIs of changed documents. */
  readonly updated: readonly string[];
}

/** A client that is told of changes. */
export interface Subscriber {
  /** Changes that this principal cannot see are not told. */
  principal(): Principal | undefined;
  onChange(change: Change): void;
}

export interface ChangeNotices {
  /** Returns unsubscribe. */
  add(subscriber: Subscriber): () => void;
  close(): void;
}

interface ChangeFollower {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly debounceMs: number;
  readonly onError: (error: Error) => void;
}

/** Everything that one client can see. */
interface ClientSnapshot {
  readonly listing: ToolListing;
  readonly entries: readonly Entry[];
  /** Whether a server had not been listed yet. */
  readonly isStarting: boolean;
}

const MAX_UPDATED = 1_000;

/** Tells each client how its own view of the catalog changes. Changes in quick succession count as one. */
export function followChanges({ gateway, listings, debounceMs, onError }: ChangeFollower): ChangeNotices {
  let timer: NodeJS.Timeout | undefined;
  const subscribers = new Map<Subscriber, Promise<ClientSnapshot | undefined>>();

  async function takeSnapshot(subscriber: Subscriber): Promise<ClientSnapshot> {
    const { listing, view } = await listings.for(subscriber.principal());
    return { listing, entries: view.entries, isStarting: view.starting.size > 0 };
  }

  async function report(
    subscriber: Subscriber,
    before: Promise<ClientSnapshot | undefined>,
    compare: Compare,
  ) {
    const now = takeSnapshot(subscriber);
    if (subscribers.has(subscriber)) subscribers.set(subscriber, ignoringFailure(now));
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
    add: (subscriber) => {
      subscribers.set(subscriber, ignoringFailure(takeSnapshot(subscriber)));
      return () => void subscribers.delete(subscriber);
    },
    close: () => {
      clearTimeout(timer);
      stop();
      subscribers.clear();
    },
  };
}

function ignoringFailure(snapshot: Promise<ClientSnapshot>): Promise<ClientSnapshot | undefined> {
  return snapshot.catch(() => undefined);
}

type Compare = (before: ClientSnapshot, now: ClientSnapshot) => Change;

/** Clients with the same listings share one comparison. */
function comparingOnce(): Compare {
  const compared = new Map<ToolListing, Map<ToolListing, Change>>();
  return (before, now) => {
    const ofBefore = compared.get(before.listing) ?? new Map<ToolListing, Change>();
    const change = ofBefore.get(now.listing) ?? toChange(before, now);
    compared.set(before.listing, ofBefore.set(now.listing, change));
    return change;
  };
}

function toChange(before: ClientSnapshot, now: ClientSnapshot): Change {
  const differ = (part: (listing: ToolListing) => unknown) =>
    JSON.stringify(part(before.listing)) !== JSON.stringify(part(now.listing));
  const old = new Map(before.entries.filter(isDocument).map((entry) => [uriOf(entry), entry]));
  const updated = now.entries
    .filter(isDocument)
    .filter((entry) => differs(old.get(uriOf(entry)), entry))
    .map(uriOf);
  return {
    // The first fill changes descriptions, which is not worth a prompt cache.
    tools: differ(({ tools }) => (before.isStarting ? tools.map(({ name }) => name) : tools)),
    prompts: differ(({ prompts }) => prompts),
    resources: differ(({ resources, templates, skills }) => [resources, templates, skills]),
    updated: updated.slice(0, MAX_UPDATED),
  };
}

function differs(before: Entry | undefined, now: Entry): boolean {
  if (!before) return false;
  return before.content !== now.content || before.description !== now.description || before.name !== now.name;
}

/** Opens an endpoint that outlasts a request and is told of changes. */
export async function openConnection(
  gateway: Gateway,
  changes: ChangeNotices,
  caller: Pick<ServerConnection, "revision" | "followSdk" | "principal">,
  createServer: (connection: ServerConnection) => Promise<Server>,
): Promise<Server> {
  const isLegacy = caller.revision === "legacy";
  const session = isLegacy ? createClientSession(gateway, caller.principal) : undefined;
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
      onChange: (change) => notify(server, connection, change),
    });
  };
  // A client of the older protocol may not be told anything before it says that it is initialized.
  if (isLegacy) server.oninitialized = subscribe;
  else subscribe();
  server.onclose = () => {
    unsubscribe();
    void session?.end();
  };
  return server;
}

function notify(server: Server, { subscribed }: ServerConnection, change: Change): void {
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
interface ClientSession {
  readonly handle: () => Promise<string>;
  end(): Promise<void>;
}

function createClientSession(gateway: Gateway, principal: Principal | undefined): ClientSession {
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
