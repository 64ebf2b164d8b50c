import { waits } from "../../access/pins.ts";
import { PROGRAM_VERSION } from "../../util/program-version.ts";
import type { OverviewAnswer } from "../parts/answers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Endpoint } from "../parts/endpoint.ts";

export function overviewEndpoint(parts: ConsoleParts): Endpoint {
  const { gateway, recorder, desk } = parts;
  return {
    method: "GET",
    path: "/api/overview",
    title: "Health, calls by minute, and the tokens put into contexts.",
    admin: true,
    handle: async ({ principal }): Promise<OverviewAnswer> => {
      const [view, search, sources, ledger] = await Promise.all([
        gateway.view({ principal }),
        gateway.searchStatus(),
        gateway.sources.status(),
        gateway.ledger({ principal }),
      ]);
      const kinds = Object.groupBy(view.entries, ({ kind }) => kind);
      return {
        version: PROGRAM_VERSION,
        catalog: view.version.slice(0, 12),
        startedAt: recorder.startedAt,
        domains: view.domains.size,
        entries: Object.fromEntries(Object.entries(kinds).map(([kind, list]) => [kind, list.length])),
        search,
        sources: sources.map(({ id, isFresh, lastError }) => ({ id, isFresh, lastError })),
        waiting: {
          definitions: gateway.pins.list().filter(waits).length,
          calls: desk.waiting().length,
        },
        tokens: { ...ledger.tokens },
        everything: ledger.everything,
        totals: recorder.series.totals(),
        minutes: recorder.series.minutes(),
        discovery: gateway.discovery(),
        notices: recorder.notices().slice(0, 8),
      };
    },
  };
}
