import type { Gateway } from "../gateway-api.ts";
import { coreOf } from "../gateway-core.ts";
import type { Entry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import type { Listing, Listings } from "./listing.ts";
import { isDocument, uriOf } from "./resources.ts";

/** A change of the catalog as one client sees it. */
export interface Change {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** URIs of changed documents. */
  readonly updated: readonly string[];
}

/** A client that hears of changes. */
export interface Audience {
  /** Changes that this principal cannot see are not told. */
  principal(): Principal | undefined;
  hear(change: Change): void;
}

export interface Changes {
  /** Returns unsubscribe. */
  add(audience: Audience): () => void;
  close(): void;
}

interface Following {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly debounceMs: number;
  readonly onError: (error: Error) => void;
}

/** Everything that one client can see. */
interface Sight {
  readonly listing: Listing;
  readonly entries: readonly Entry[];
  /** Whether a server had not told yet what it offers. */
  readonly isFilling: boolean;
}

const MAX_UPDATED = 1_000;

/** Tells each client how its own view of the catalog changes. Changes in quick succession count as one. */
export function followChanges({ gateway, listings, debounceMs, onError }: Following): Changes {
  let timer: NodeJS.Timeout | undefined;
  const audiences = new Map<Audience, Promise<Sight | undefined>>();

  async function look(audience: Audience): Promise<Sight> {
    const { listing, principal } = await listings.for(audience.principal());
    const { entries, starting } = await coreOf(gateway).shown(principal);
    return { listing, entries, isFilling: starting.size > 0 };
  }

  async function tell(audience: Audience, before: Promise<Sight | undefined>, compare: Compare) {
    const now = look(audience);
    if (audiences.has(audience)) audiences.set(audience, ignoringFailure(now));
    const [old, next] = await Promise.all([before, now]);
    if (!old || old.listing.version === next.listing.version || !audiences.has(audience)) return;
    audience.hear(compare(old, next));
  }

  function report(): void {
    const compare = comparingOnce();
    for (const [audience, before] of audiences) void tell(audience, before, compare).catch(onError);
  }

  const stop = gateway.onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(report, debounceMs);
    timer.unref();
  });
  return {
    add: (audience) => {
      audiences.set(audience, ignoringFailure(look(audience)));
      return () => void audiences.delete(audience);
    },
    close: () => {
      clearTimeout(timer);
      stop();
      audiences.clear();
    },
  };
}

function ignoringFailure(sight: Promise<Sight>): Promise<Sight | undefined> {
  return sight.catch(() => undefined);
}

type Compare = (before: Sight, now: Sight) => Change;

/** Clients with the same listings share one comparison. */
function comparingOnce(): Compare {
  const made = new Map<Listing, Map<Listing, Change>>();
  return (before, now) => {
    const ofBefore = made.get(before.listing) ?? new Map<Listing, Change>();
    const change = ofBefore.get(now.listing) ?? toChange(before, now);
    made.set(before.listing, ofBefore.set(now.listing, change));
    return change;
  };
}

function toChange(before: Sight, now: Sight): Change {
  const differ = (part: (listing: Listing) => unknown) =>
    JSON.stringify(part(before.listing)) !== JSON.stringify(part(now.listing));
  const old = new Map(before.entries.filter(isDocument).map((entry) => [uriOf(entry), entry]));
  const updated = now.entries
    .filter(isDocument)
    .filter((entry) => differs(old.get(uriOf(entry)), entry))
    .map(uriOf);
  return {
    // The first fill changes descriptions, which is not worth a prompt cache.
    tools: differ(({ tools }) => (before.isFilling ? tools.map(({ name }) => name) : tools)),
    prompts: differ(({ prompts }) => prompts),
    resources: differ(({ resources, templates, skills }) => [resources, templates, skills]),
    updated: updated.slice(0, MAX_UPDATED),
  };
}

function differs(before: Entry | undefined, now: Entry): boolean {
  if (!before) return false;
  return before.content !== now.content || before.description !== now.description || before.name !== now.name;
}
