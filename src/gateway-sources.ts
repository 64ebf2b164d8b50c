import type { DomainSources } from "./domain-sources.ts";
import type { GatewaySources, LifecycleOptions } from "./gateway-api.ts";
import type { LiveSources } from "./live-sources.ts";

/** The sources as applications use them. Every call waits until the gateway is ready. */
export function toGatewaySources(
  sources: LiveSources,
  domains: DomainSources,
  ready: () => Promise<unknown>,
): GatewaySources {
  const refresh = async (target?: string | LifecycleOptions, options?: LifecycleOptions) => {
    await ready();
    if (typeof target === "string") return sources.refresh(target, options?.signal);
    return sources.restart(target?.signal);
  };
  return {
    status: (async (id?: string) => {
      await ready();
      return id === undefined ? sources.list() : sources.status(id);
    }) as GatewaySources["status"],
    refresh: refresh as GatewaySources["refresh"],
    set: async (next) => {
      await ready();
      await domains.setSources(next, sources);
    },
    rebuild: async ({ signal } = {}) => {
      await ready();
      return sources.rebuild(signal);
    },
  };
}
