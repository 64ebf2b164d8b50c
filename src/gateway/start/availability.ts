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

/** Progress of the start. It never goes back. */
export type StartState = "loading" | "usable" | "complete";

/** Time limits of the start. */
export const WAITS = {
  /** Wait this long for the next source, so that quick sources share one build of the first catalog. */
  gatherMs: 100,
  /** The longest wait for sources that trickle in: a client waits for its list of tools. */
  longestGatherMs: 1_000,
  /** Sources that take longer join later. Clients give up on a server after 10 to 30 s. */
  firstContentMs: 10_000,
  /** A call waits this long for the server that it names. */
  startingMs: 10_000,
  /** Time to answer the first list of tools, and a call that follows at once, before the index takes the processor. */
  listingMs: 500,
  /** After a longer build, updates during the start are combined. */
  longBuildMs: 10,
  /** Calls in flight may use a removed source for this long. */
  drainMs: 60_000,
  /** Time for sources to end their processes before the gateway is closed. */
  closeMs: 10_000,
} as const;

/** One catalog and everything derived from it. Immutable: calls in flight keep their generation. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
}

/**
 * The catalog that a caller needs: a state of the start, `searchable` (search finds every entry), `started` (no server
 * of the caller is still starting), or addresses whose servers must have started.
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

/** The only place that waits for a catalog. */
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
    // Another process may have given or revoked approvals.
    await pins.refresh();
    return catalog.current;
  }

  /** Resolves when the current catalog meets the condition, or after this time. */
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
     * The catalog, once it meets the need of this principal. Waits at most `waitMs` for servers that are starting.
     *
     * @throws CLOSED after the gateway was closed.
     */
    available,
    refuseEnded,
    /** Refuses all later calls. */
    end: (): void => {
      isEnded = true;
    },
  };
}

function hasStarted(need: "started" | readonly string[], { starting, toNamed }: View): boolean {
  if (starting.size === 0) return true;
  return need !== "started" && !need.some((address) => starting.has(domainOf(toNamed(address))));
}

/** Tracks running calls. */
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

  /** Resolves when all calls that run now have ended. Later calls do not delay it. */
  async settled(): Promise<void> {
    await Promise.all([...this.#calls].map(({ promise }) => promise));
  }
}

/** Waits for a promise, but no longer than this. */
export async function withTimeout(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}
