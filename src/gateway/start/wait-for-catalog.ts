import { problem } from "../../base/problems/problem.ts";
import type { Pins } from "../../core/access/pins.ts";
import { domainOf } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { CatalogStore, Generation } from "./catalog-store.ts";
import type { SourceManager } from "./source-manager.ts";

/** How long a call waits for the server that it names. */
const STARTING_MS = 10_000;

/** The catalog as a call of this moment may use it: loaded, and with the approvals that still count. */
export type CurrentCatalog = ReturnType<typeof createCurrentCatalog>;

export function createCurrentCatalog(live: CatalogStore, sources: SourceManager, pins: Pins) {
  let ended = false;

  /** @throws CLOSED after the gateway was closed. */
  function ready(): Promise<void> {
    return ended ? Promise.reject(problem("CLOSED")) : sources.ready();
  }

  async function after(loaded: Promise<void>): Promise<Generation> {
    await loaded;
    // Approvals that another gateway has revoked must not count from now on.
    if (pins.refresh) await pins.refresh();
    return live.current;
  }

  return {
    ready,
    /** @throws CLOSED after the gateway was closed. */
    current: () => after(ready()),
    /** The catalog without waiting for servers that are starting. @throws CLOSED after the gateway was closed. */
    shown: () => after(ended ? ready() : sources.shown()),
    /** Waits a while for the servers that these addresses name. Call it after `ready`. */
    started: async (addresses: readonly string[], principal: Principal): Promise<Generation> => {
      const isStarted = ({ viewFor }: Generation) => {
        const { starting, toNamed } = viewFor(principal);
        return starting.size === 0 || !addresses.some((address) => starting.has(domainOf(toNamed(address))));
      };
      return after(live.until(isStarted, STARTING_MS));
    },
    /** Waits a while for all servers of this principal. */
    allStarted: (principal: Principal): Promise<void> =>
      live.until(({ viewFor }) => viewFor(principal).starting.size === 0, STARTING_MS),
    /** Refuses everything from now on. */
    end: (): void => {
      ended = true;
    },
  };
}
