import type { PlanStore } from "../session/plan-store.ts";
import type { Json } from "../util/json.ts";
import type { Effect, Ended, Plan, PlanEvent } from "./plan.ts";

/** The events of one run of a plan: those of earlier runs, and those that this run adds. */
export interface Recording {
  readonly events: readonly PlanEvent[];
  /** Finished requests of earlier runs, in the order in which the script got their answers. */
  readonly earlier: readonly Ended[];
  /** The request of that number in earlier runs, finished or only begun. */
  known(
    number: number,
  ): { readonly key: string; readonly ended: boolean; readonly effect?: Effect } | undefined;
  /** Records an event, and resolves when it is kept. Events of a plan without a handle stay in memory. */
  add(event: PlanEvent): Promise<void>;
}

export function createRecording(
  { handle, events: given }: Plan,
  plans: PlanStore,
  principalId: string,
): Recording {
  const events = [...given];
  const earlier = given.flatMap((event) => (event.at === "ended" ? [event] : []));
  const requests = new Map<number, { key: string; ended: boolean; effect?: Effect }>();
  for (const event of given) {
    if (event.at === "withdrawn") requests.delete(event.number);
    if (event.at !== "began" && event.at !== "ended") continue;
    const { number, key, effect } = event;
    requests.set(number, { key, ended: event.at === "ended", ...(effect && { effect }) });
  }
  let last: Promise<void> = Promise.resolve();
  return {
    events,
    earlier,
    known: (number) => requests.get(number),
    add: (event) => {
      const position = events.length;
      events.push(event);
      if (handle === undefined) return last;
      // Events are kept in order, so a run that is not alone notices before its next effect.
      last = last.then(() => plans.append(handle, principalId, position, event as unknown as Json));
      return last;
    },
  };
}
