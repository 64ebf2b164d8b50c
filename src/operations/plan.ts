import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { Lane } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import type { Needs } from "../session/needs.ts";
import type { PlanStore } from "../session/plan-store.ts";
import { contentHash } from "../util/content-hash.ts";
import type { Json } from "../util/json.ts";

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
  /** Conditions to get this answer again. Plans of earlier versions have none. */
  readonly needs?: Needs;
  /** The others who wrote the value. */
  readonly source?: string;
  readonly effect?: Effect;
  /** The effect is made again after nobody knew whether it took place. */
  readonly again?: boolean;
  /** Nobody knows whether the effect took place. */
  readonly unknown?: boolean;
}

/** The events of a plan, in order. The plan is all of them together. */
export type PlanEvent =
  | { readonly at: "script"; readonly script: PlanScript }
  | { readonly at: "planned"; readonly effects: readonly Effect[] }
  /** A person has approved everything planned. */
  | { readonly at: "approved"; readonly hash: string; readonly by: string }
  /** An effect is about to run. Without its `ended`, nobody knows whether it took place. */
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
  if (first?.at !== "script") throw problem("UNKNOWN_HANDLE", { handle });
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
