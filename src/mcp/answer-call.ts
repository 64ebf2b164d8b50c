import { coreOf } from "../gateway-core.ts";
import type { Principal } from "../schema/principal.ts";
import { becomesTask, callAsTask } from "./call-as-task.ts";
import type { ToolResult } from "./call-native.ts";
import { callTool, type ToolCaller } from "./call-tool.ts";
import { guarded, inRound } from "./in-round.ts";
import type { Incoming } from "./incoming.ts";
import type { Listing, Listings } from "./listing.ts";
import type { KnownClient } from "./round.ts";
import type { Tasks } from "./tasks.ts";
import { traced } from "./traced.ts";

/** Answers a `tools/call`. The SDK and the fast lane both end here. */
export type AnswerCall = (
  call: {
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    /** Set if a client of 2025-11-25 asks for a task. */
    readonly task?: { readonly ttl?: number | undefined } | undefined;
  },
  incoming: Incoming,
  /** The principal of the request, if it names one. */
  principal?: Principal,
) => Promise<ToolResult>;

/** Everything that an endpoint knows about its callers. */
export interface Callers {
  callerOf(principal: Principal | undefined): Promise<Caller>;
  /** Facts about the client that a request does not repeat. */
  known(): KnownClient | Promise<KnownClient>;
}

/** The parts of a server that answer calls. */
export interface CallParts extends ToolCaller {
  readonly listings: Listings;
  /** Absent on surfaces whose tools are not those of a server. */
  readonly tasks?: Tasks<ToolResult> | undefined;
}

export interface Caller {
  readonly listing: Listing;
  readonly principal: Principal;
}

export function createAnswerCall(parts: CallParts, { callerOf, known }: Callers): AnswerCall {
  const core = coreOf(parts.gateway);

  return (call, incoming, given) =>
    traced(incoming, call.name, (trace) =>
      guarded(async () => {
        let caller = await callerOf(given);
        if (!caller.listing.toolbox.toCall(call.name, {})) {
          // A tool that is not listed may belong to a server that is still starting.
          await core.allStarted(caller.principal);
          caller = await parts.listings.for(caller.principal);
        }
        const { listing, principal } = caller;
        const request = { incoming, principal, known: await known(), trace, clock: core.clock };
        return await inRound(request, (round) => {
          const { tasks } = parts;
          const isModern = incoming.envelope !== undefined;
          if (!tasks || !becomesTask(listing, call, round, isModern))
            return callTool(parts, listing, call, round);
          return callAsTask(parts, tasks, listing, call, { round, isModern });
        });
      }),
    );
}
