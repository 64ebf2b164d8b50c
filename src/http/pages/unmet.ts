import type { UnmetAnswer } from "../parts/answers.ts";
import { addressesIn, type ConsoleParts } from "../parts/console-parts.ts";
import type { Endpoint } from "../parts/endpoint.ts";

export function unmetEndpoint({ gateway }: ConsoleParts): Endpoint {
  return {
    method: "GET",
    path: "/api/unmet",
    title: "Needs that led to no call, the most frequent first.",
    admin: true,
    handle: async ({ principal }): Promise<UnmetAnswer> => {
      const isSeen = addressesIn(await gateway.view({ principal }));
      const unmet = gateway.unmet().map((query) => ({ ...query, shown: query.shown.filter(isSeen) }));
      return { unmet, discovery: gateway.discovery() };
    },
  };
}
