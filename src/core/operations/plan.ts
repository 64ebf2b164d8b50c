import { problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { Lane } from "../nouns/entry.ts";
import type { ReadConditions } from "../sessions/read-conditions.ts";
import type { PlanStore } from "../storage/plan-store.ts";

/** A call of a script that changes something. `hash` stands for the op and its exact args. */
export interface Effect {
  readonly op: string;
  readonly lane: Lane;
  readonly args: Readonly<Record<string, Json>>;
  readonly hash: string;
}

/** The script of a plan, with all that decides how it runs apart from the answers to its calls. */
export interface PlanScript {
  readonly code: string;
  readonly params: Json;
  readonly now: number;
  readonly seed: readonly [number, number, number, number];
}

/** A finished request of a script, which is answered from here when the script runs again. */
export interface Ended {
  readonly number: number;
  /** Stands for the exact request. */
  readonly key: string;
  readonly ok: boolean;
  readonly value: Json;
  readonly label?: string;
  /** Conditions to get this answer again. */
  readonly needs: ReadConditions;
  /** Server that produced the value (untrusted text). */
  readonly source?: string;
  readonly effect?: Effect;
  /** Repeats an effect whose outcome was unknown. */
  readonly again?: boolean;
  /** The outcome of the effect is unknown. */
  readonly unknown?: boolean;
}

/** The events of a plan, in order. The plan is all of them together. */
export type PlanEvent =
  | { readonly at: "script"; readonly script: PlanScript }
  | { readonly at: "planned"; readonly effects: readonly Effect[] }
  /** A person has approved everything planned. */
  | { readonly at: "approved"; readonly hash: string; readonly by: string }
  /** An effect is about to run. Without an `ended` of the same number, its outcome is unknown. */
  | ({ readonly at: "began"; readonly effect: Effect } & Pick<Ended, "number" | "key" | "again">)
  /** A begun effect was not run, because a person has to approve it first. */
  | { readonly at: "withdrawn"; readonly number: number }
  | ({ readonly at: "ended" } & Ended);

/** A script with its finished calls, and the effects that are to follow them. */
export interface Plan {
  readonly handle?: string;
  readonly script: PlanScript;
  readonly events: readonly PlanEvent[];
  /** Effects that the script is expected to perform; absent for a script that runs without a plan. */
  readonly planned?: readonly Effect[];
  /** How many of the planned effects were begun. */
  readonly begun: number;
  /** The person who approved it as a whole. */
  readonly approvedBy?: string;
  /** Stands for the code, the effects before the plan, and every planned one. */
  readonly hash: string;
}

/** Puts a plan together from its events. Its hash stays the same while its effects are performed. */
export function toPlan(events: readonly PlanEvent[], handle?: string): Plan {
  const first = events[0];
  if (first?.at !== "script") throw problem("UNKNOWN_HANDLE", { handle: handle ?? "of this plan" });
  const last = events.findLastIndex((event) => event.at === "planned");
  const planned = last < 0 ? undefined : (events[last] as { effects: readonly Effect[] }).effects;
  const before = effectsIn(events.slice(0, Math.max(0, last)));
  const after = events.slice(last + 1);
  const hashes = (effects: readonly Effect[]) => effects.map((effect) => effect.hash);
  const hash = contentHash({ ...first.script, done: hashes(before), planned: hashes(planned ?? []) });
  const approval = after.flatMap((event) =>
    event.at === "approved" && event.hash === hash ? [event] : [],
  )[0];
  return {
    ...(handle && { handle }),
    script: first.script,
    events,
    ...(planned && { planned }),
    begun: effectsIn(after).length,
    ...(approval && { approvedBy: approval.by }),
    hash,
  };
}

/** Effects that were begun, each once. */
function effectsIn(events: readonly PlanEvent[]): readonly Effect[] {
  const begun = new Map<number, Effect>();
  for (const event of events) {
    if ((event.at === "began" || event.at === "ended") && event.effect && !event.again)
      begun.set(event.number, event.effect);
    if (event.at === "withdrawn") begun.delete(event.number);
  }
  return [...begun.values()];
}

export async function readPlan(handle: string, principalId: string, plans: PlanStore): Promise<Plan> {
  const events = await plans.read(handle, principalId);
  return toPlan(events as unknown as readonly PlanEvent[], handle);
}

/** The one question about all effects of a plan. Its name is the plan's, so that no other plan is approved by it. */
export function planQuestion(
  { hash, planned = [], handle }: Plan,
  { principal, why }: Pick<ApprovalRequest, "principal" | "why">,
): ApprovalRequest {
  const effects = planned.map(({ op, args }) => ({ op, args }));
  const op = `plan ${hash.slice(0, 12)}`;
  return { op, args: { effects }, hash, principal, why, ...(handle && { resume: handle }) };
}

/**
 * Answers requests of earlier runs in the order in which the script got those answers, so that the script does the
 * same again.
 */
export interface Replay {
  /** Delivers the answer to a request when it is its turn. */
  offer(number: number, deliver: () => void): void;
  /** Resolves when all earlier answers were delivered. New answers have to wait for it. */
  readonly over: Promise<void>;
  readonly isOver: boolean;
}

export function createReplay(earlier: readonly { readonly number: number }[]): Replay {
  const turns = new Map(earlier.map(({ number }, turn) => [number, turn]));
  const held = new Map<number, () => void>();
  const over = Promise.withResolvers<void>();
  let next = 0;
  const check = () => {
    if (next === earlier.length) over.resolve();
  };
  check();
  return {
    offer: (number, deliver) => {
      held.set(turns.get(number)!, deliver);
      for (let ready = held.get(next); ready; ready = held.get(next)) {
        ready();
        next += 1;
      }
      check();
    },
    over: over.promise,
    get isOver() {
      return next === earlier.length;
    },
  };
}

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
      // Events are stored in order: of two runs of a plan, one fails here before its next effect.
      last = last.then(() => plans.append(handle, principalId, position, event as unknown as Json));
      return last;
    },
  };
}
