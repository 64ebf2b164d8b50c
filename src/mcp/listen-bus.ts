import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";
import type { Change, Changes } from "./changes.ts";

/** Tells open `subscriptions/listen` streams of the changes that their principals can see. */
export interface ListenBus {
  readonly bus: ServerEventBus;
  /** Streams that open during this work belong to the principal. */
  as<T>(principal: Principal, work: () => T): T;
}

export function createListenBus(changes: Changes, onError: (error: Error) => void): ListenBus {
  const callers = new AsyncLocalStorage<Principal>();
  return {
    as: (principal, work) => callers.run(principal, work),
    bus: {
      // An event of the SDK's own would reach every principal.
      publish: () => {},
      subscribe: (listener) => {
        const principal = callers.getStore();
        return changes.add({
          principal: () => principal,
          hear: (change) => {
            try {
              for (const event of toEvents(change)) listener(event);
            } catch (error) {
              onError(error as Error);
            }
          },
        });
      },
    },
  };
}

function toEvents({ tools, prompts, resources, updated }: Change): ServerEvent[] {
  return [
    ...(tools ? [{ kind: "tools_list_changed" as const }] : []),
    ...(prompts ? [{ kind: "prompts_list_changed" as const }] : []),
    ...(resources ? [{ kind: "resources_list_changed" as const }] : []),
    ...updated.map((uri) => ({ kind: "resource_updated" as const, uri })),
  ];
}
