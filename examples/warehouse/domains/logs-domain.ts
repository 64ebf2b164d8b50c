// The event log of the systems.
import { type DomainDefinition, defineDomain, defineTool, type Guidance } from "keyhole";
import { z } from "zod";
import type { Warehouse } from "../database.ts";

interface Event {
  readonly user_id: string;
  readonly at: string;
  readonly event: string;
  readonly country: string;
}

const limit = z.int().min(1).max(200).default(20);
const FAST_MS = 60 * 60 * 1_000;

export function createLogsDomain({ database }: Warehouse): DomainDefinition {
  return defineDomain({
    name: "logs",
    description: "What happened in our systems, and when: logins, warnings, connected wallets.",
    requiredScopes: ["internal"],
    tools: [
      defineTool({
        route: "logs://tools/investigator",
        name: "Log Investigator",
        description:
          "Start here to investigate activity, logins and suspicious or fraudulent behaviour in logs.",
        searchable: true,
        inputSchema: z.strictObject({ query: z.string().max(1_000).optional() }),
        examples: [{ args: { query: "logins of u-1042" } }],
        execute() {
          const kinds = database
            .prepare(
              "SELECT event, count(*) AS events, max(at) AS last FROM log_events GROUP BY event ORDER BY event",
            )
            .all();
          return { about: "Events carry a user_id, a time, a name and the country they came from.", kinds };
        },
        // Next steps that are always the same can be part of the definition.
        guidance: [
          { route: "logs://tools/hidden/user-activity", prose: "Everything one user did, in order." },
          { route: "logs://tools/search-logs", prose: "Events of all users, by words and time." },
        ],
      }),

      defineTool({
        route: "logs://tools/search-logs",
        name: "Search Logs",
        description: "Finds log events by words of the event or its message, newest first.",
        inputSchema: z.strictObject({
          search: z.string().trim().min(1).max(200),
          since: z.iso.date().optional(),
          limit,
        }),
        examples: [{ args: { search: "refused", since: "2026-03-01" } }],
        phrases: ["error messages", "find log lines"],
        execute: ({ search, since = "", limit: most }) => ({
          events: database
            .prepare(
              `SELECT user_id, at, event, country, message FROM log_events
               WHERE instr(lower(event || ' ' || message), lower(?)) AND at >= ? ORDER BY at DESC, event_id LIMIT ?`,
            )
            .all(search, since, most),
        }),
      }),

      defineTool({
        route: "logs://tools/hidden/user-activity",
        name: "User Activity",
        description: "Events of one user, oldest first, and logins from two countries within an hour.",
        searchable: false,
        inputSchema: z.strictObject({ user_id: z.string().min(1).max(64), limit }),
        examples: [{ args: { user_id: "u-1042" } }],
        execute({ user_id, limit: most }) {
          const events = database
            .prepare(
              "SELECT user_id, at, event, country FROM log_events WHERE user_id = ? ORDER BY at, event_id LIMIT ?",
            )
            .all(user_id, most) as unknown as Event[];
          const jumps = jumpsIn(events.filter(({ event }) => event === "login"));
          const prose = "Logins from two countries within an hour: look at the transfers.";
          const guidance: Guidance[] =
            jumps.length > 0
              ? [{ route: "warehouse://tools/hidden/fincrime-review", prose, params: { user_id } }]
              : [];
          return { content: { events, jumps }, guidance };
        },
      }),
    ],
  });
}

/** Pairs of logins too far apart to travel between in the time. */
function jumpsIn(logins: readonly Event[]): { from: string; to: string; minutes: number }[] {
  return logins.flatMap((login, index) => {
    const before = logins[index - 1];
    if (!before || before.country === login.country) return [];
    const ms = Date.parse(login.at) - Date.parse(before.at);
    return ms < FAST_MS ? [{ from: before.country, to: login.country, minutes: ms / 60_000 }] : [];
  });
}
