import type { Gateway } from "../gateway-api.ts";
import type { Entry } from "../schema/entry.ts";
import type { Listings } from "./listing.ts";
import { isDocument, uriOf } from "./resources.ts";

/** A change of the catalog, as clients hear of it. */
export interface Change {
  /** True if the list of tools differs, which is rare on most surfaces. */
  readonly tools: boolean;
  /** URIs of changed documents. */
  readonly updated: readonly string[];
}

interface Following {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly debounceMs: number;
  readonly publish: (change: Change) => void;
  readonly onError: (error: Error) => void;
}

const MAX_UPDATED = 1_000;

/** Publishes changes of the catalog; changes in quick succession count as one. Returns unsubscribe. */
export function followChanges({ gateway, listings, debounceMs, publish, onError }: Following): () => void {
  let timer: NodeJS.Timeout | undefined;
  let before: ReadonlyMap<string, Entry> | undefined;

  /** Uses the gateway's own view: only addresses go out, and only to their subscribers. */
  async function documents(): Promise<ReadonlyMap<string, Entry>> {
    const { entries } = await gateway.view();
    return new Map(entries.filter(isDocument).map((entry) => [uriOf(entry), entry]));
  }

  async function report(): Promise<void> {
    const [tools, now] = await Promise.all([listings.toolsChanged(), documents()]);
    const updated = [...now]
      .filter(([uri, entry]) => before && differs(before.get(uri), entry))
      .map(([uri]) => uri);
    before = now;
    publish({ tools, updated: updated.slice(0, MAX_UPDATED) });
  }

  const stop = gateway.onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(() => void report().catch(onError), debounceMs);
    timer.unref();
  });
  void documents().then(
    (first) => {
      before ??= first;
    },
    () => {},
  );
  return () => {
    clearTimeout(timer);
    stop();
  };
}

function differs(before: Entry | undefined, now: Entry): boolean {
  if (!before) return false;
  return before.content !== now.content || before.description !== now.description || before.name !== now.name;
}
