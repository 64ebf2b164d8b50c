import { join } from "node:path";
import type { GatewayOptions } from "./gateway-api.ts";
import { CODE, type LiveSources } from "./live-sources.ts";
import type { DomainDefinition } from "./schema/definition.ts";
import type { FetchContext } from "./schema/pipeline.ts";
import type { Source, SourceContent } from "./schema/source.ts";
import { fromDomains } from "./sources/code/from-domains.ts";
import { createContentStore } from "./sources/content/content-store.ts";
import { createContentSources } from "./sources/content/create-content-sources.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { systemClock } from "./util/clock.ts";

const PROGRESS_MS = 100;

/** The definitions a gateway was given: domains in code with their content pipelines, and further sources. */
export interface DomainSources {
  /** The content of the first domains. */
  readonly content: SourceContent;
  /** The pipelines of the domains now in use, then the further sources. */
  sources(): readonly Source[];
  /** Replaces the domains. Invalid ones change nothing. */
  setDomains(domains: readonly DomainDefinition[], live: Pick<LiveSources, "replace">): Promise<void>;
  /** Replaces the further sources. Invalid ones change nothing. */
  setSources(sources: readonly Source[], live: Pick<LiveSources, "replace">): Promise<void>;
}

/** `own`: sources of the gateway itself, which nobody replaces. */
export function createDomainSources(
  {
    domains,
    sources = [],
    cacheDirectory,
    clock = systemClock,
  }: Pick<GatewayOptions, "domains" | "sources" | "cacheDirectory" | "clock">,
  own: readonly Source[],
): DomainSources {
  const environment = {
    store: createContentStore(cacheDirectory && join(cacheDirectory, "content")),
    clock,
    random: Math.random,
    onFailure: (detail: string) => publish({ type: "notice", notice: "content-failed", detail }),
    onProgress: createProgress(),
  };
  let pipelines = createContentSources(domains, environment);
  let others = sources;
  return {
    content: fromDomains(domains),
    sources: () => [...pipelines, ...others, ...own],
    setDomains: async (definitions, live) => {
      const content = fromDomains(definitions);
      // The extractors of a wrong definition cannot be read.
      const next = content.errors?.length === 0 ? createContentSources(definitions, environment) : pipelines;
      await live.replace([...next, ...others, ...own], { [CODE]: content });
      pipelines = next;
    },
    setSources: async (next, live) => {
      await live.replace([...pipelines, ...next, ...own]);
      others = next;
    },
  };
}

/** Publishes progress at most ten times a second, and always when it is complete. */
function createProgress() {
  let last = 0;
  return (source: string, { done, total, message }: Parameters<FetchContext["progress"]>[0]) => {
    if (!isHeard() || (done !== total && performance.now() - last < PROGRESS_MS)) return;
    last = performance.now();
    publish({
      type: "source",
      source,
      state: "loading",
      done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { detail: message }),
    });
  };
}
