import { problem } from "../../base/problems/problem.ts";
import type { Pins } from "../../core/access/pins.ts";
import type { View } from "../../core/access/view.ts";
import type { Catalog } from "../../core/catalog/catalog.ts";
import { domainOf } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";

/*
 *          sources that answer at once           every source has delivered,
 *          are in the catalog                    failed or taken too long
 * loading ───────────────────────────▶ usable ───────────────────────────▶ complete
 *                                        │ menus are listed                  │ calls run
 *                                        ▼                                   ▼
 *                       the index fills, and searches wait for it     entries are shown once they can be found
 */

/** How far the start of a gateway has come. It never goes back. */
export type StartState = "loading" | "usable" | "complete";

/** How long the start waits for others. */
export const WAITS = {
  /** The first catalog waits this long for the next source, so that quick sources share one build. */
  gatherMs: 100,
  /** Sources that trickle in share a build no longer than this: a client waits for its list of tools. */
  longestGatherMs: 1_000,
  /** A source that is silent for longer joins later. Clients give up on a server after 10 to 30 s. */
  firstContentMs: 10_000,
  /** A call waits this long for the server that it names. */
  startingMs: 10_000,
  /** The first list of tools is answered within this time before the index takes the processor. */
  listingMs: 100,
  /** After a build that took longer, updates of the start wait for each other. */
  longBuildMs: 10,
  /** Calls in flight may use a removed source for this long. */
  drainMs: 60_000,
  /** Sources may have processes to end before the gateway is closed. */
  closeMs: 10_000,
} as const;

/** One catalog and everything derived from it. Immutable: calls in flight keep their generation. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
}

/**
 * The state of the catalog that a caller needs: a state of the start, `searchable` (everything in it can be found),
 * `started` (no server of the caller is starting any more), or the addresses whose servers must have started.
 */
export type CatalogNeed = Exclude<StartState, "loading"> | "searchable" | "started" | readonly string[];

interface StartingCatalog {
  readonly state: StartState;
  readonly current: Generation;
  /** Resolves when the start has come to `usable`. */
  readonly usable: Promise<void>;
  searchable(): Promise<void>;
  onChange(listener: () => void): () => void;
}

/** The one place that waits for a catalog. */
export type Availability = ReturnType<typeof createAvailability>;

/** @param begin Starts the sources, once. Resolves when the start is complete. */
export function createAvailability(catalog: StartingCatalog, begin: () => Promise<void>, pins: Pins) {
  let isEnded = false;

  async function available(
    need: CatalogNeed,
    principal?: Principal,
    waitMs: number = WAITS.startingMs,
  ): Promise<Generation> {
    refuseEnded();
    // A start that fails never becomes usable.
    if (catalog.state !== "complete")
      await (need === "usable" ? Promise.race([begin(), catalog.usable]) : begin());
    if (need === "searchable") await catalog.searchable();
    else if (principal && need !== "usable" && need !== "complete")
      await until(() => hasStarted(need, catalog.current.viewFor(principal)), waitMs);
    // Approvals that another process gave count from now on, and those that it revoked no longer.
    await pins.refresh();
    return catalog.current;
  }

  /** Resolves when the catalog in use meets the condition, at the latest after this time. */
  async function until(isMet: () => boolean, ms: number): Promise<void> {
    if (isMet()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = catalog.onChange(() => {
      if (isMet()) resolve();
    });
    await withTimeout(promise, ms);
    stop();
  }

  /** @throws CLOSED after the gateway was closed. */
  function refuseEnded(): void {
    if (isEnded) throw problem("CLOSED");
  }

  return {
    /**
     * The catalog, as soon as it meets the need of this principal. Servers that are starting are waited for at most
     * `waitMs`.
     *
     * @throws CLOSED after the gateway was closed.
     */
    available,
    refuseEnded,
    /** Refuses everything from now on. */
    end: (): void => {
      isEnded = true;
    },
  };
}

function hasStarted(need: "started" | readonly string[], { starting, toNamed }: View): boolean {
  if (starting.size === 0) return true;
  return need !== "started" && !need.some((address) => starting.has(domainOf(toNamed(address))));
}

/** Tracks the calls that are under way. */
export class InFlight {
  readonly #calls = new Set<PromiseWithResolvers<void>>();

  /** Registers a call. Returns the function that ends it. */
  enter(): () => void {
    const call = Promise.withResolvers<void>();
    this.#calls.add(call);
    return () => {
      this.#calls.delete(call);
      call.resolve();
    };
  }

  /** Resolves when the calls under way now have ended. Later calls do not delay it. */
  async settled(): Promise<void> {
    await Promise.all([...this.#calls].map(({ promise }) => promise));
  }
}

/** Waits for a promise, at the latest until this time is over. */
export async function withTimeout(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}
