import { problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { Lane } from "../nouns/entry.ts";
import type { ReadConditions } from "../sessions/read-conditions.ts";
import type { PlanStore } from "../storage/plan-store.ts";

/** A call of a script that changes something. `hash` covers the op and its exact args. */
export interface Effect {
  readonly op: string;
  readonly lane: Lane;
  readonly args: Readonly<Record<string, Json>>;
  readonly hash: string;
}

/** The script of a plan, with everything that decides how it runs except the answers to its calls. */
export interface PlanScript {
  readonly code: string;
  readonly params: Json;
  readonly now: number;
  readonly seed: readonly [number, number, number, number];
}

/** A finished request of a script. A later run of the script gets its answer from here. */
export interface Ended {
  readonly number: number;
  /** Hash of the exact request. */
  readonly key: string;
  readonly ok: boolean;
  readonly value: Json;
  readonly label?: string;
  /** Conditions to get this answer again. */
  readonly needs: ReadConditions;
  /** Server that produced the value (untrusted text). */
  readonly source?: string;
  readonly effect?: Effect;
  /** Repeats an effect with an unknown outcome. */
  readonly again?: boolean;
  /** The outcome of the effect is unknown. */
  readonly unknown?: boolean;
}

/** Events of a plan, in order. Together they are the plan. */
export type PlanEvent =
  | { readonly at: "script"; readonly script: PlanScript }
  | { readonly at: "planned"; readonly effects: readonly Effect[] }
  /** A person approved everything planned. */
  | { readonly at: "approved"; readonly hash: string; readonly by: string }
  /** An effect is about to run. Without a later `ended` of the same number, its outcome is unknown. */
  | ({ readonly at: "began"; readonly effect: Effect } & Pick<Ended, "number" | "key" | "again">)
  /** An effect was begun but not run, because a person has to approve it first. */
  | { readonly at: "withdrawn"; readonly number: number }
  | ({ readonly at: "ended" } & Ended);

/** A script with its finished calls and the effects that follow. */
export interface Plan {
  readonly handle?: string;
  readonly script: PlanScript;
  readonly events: readonly PlanEvent[];
  /** Effects that the script is expected to perform. Absent for a run without a plan. */
  readonly planned?: readonly Effect[];
  /** How many planned effects were begun. */
  readonly begun: number;
  /** The person who approved the whole plan. */
  readonly approvedBy?: string;
  /** Hash of the code, its params, the effects before the plan, and all planned effects. */
  readonly hash: string;
}

/** Builds a plan from its events. Its hash stays the same while its effects run. */
export function toPlan(events: readonly PlanEvent[], handle?: string): Plan {
  const first = events[0];
  if (first?.at !== "script") throw problem("UNKNOWN_HANDLE", { handle: handle ?? "of this plan" });
  const last = events.findLastIndex((event) => event.at === "planned");
  const planned = last < 0 ? undefined : (events[last] as { effects: readonly Effect[] }).effects;
  const before = effectsIn(events.slice(0, Math.max(0, last)));
  const after = events.slice(last + 1);
  const hashes = (effects: readonly Effect[]) => effects.map((effect) => effect.hash);
  const { code, params } = first.script;
  // The clock and the random seed are not hashed: an approval covers any run that plans the same effects.
  const hash = contentHash({ code, params, done: hashes(before), planned: hashes(planned ?? []) });
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

/** Begun effects, each once. */
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

/** The single question about all effects of a plan. It is named after the plan, so that it approves no other plan. */
export function planQuestion(
  { hash, planned = [], handle }: Plan,
  about: Pick<ApprovalRequest, "principal" | "session" | "why" | "steeredBy">,
): ApprovalRequest {
  const effects = planned.map(({ op, args }) => ({ op, args }));
  const op = `plan ${hash.slice(0, 12)}`;
  return { op, args: { effects }, hash, ...about, ...(handle && { resume: handle }) };
}

export type RequestEvent = Extract<PlanEvent, { readonly at: "began" | "ended" }>;

/**
 * Events of one run of a plan: those of earlier runs, and new ones. Earlier answers are replayed in their original
 * order, so that the script repeats its steps.
 */
export class Recording {
  readonly events: PlanEvent[];
  /** Requests of earlier runs by number, finished or only begun. */
  readonly earlier: Map<number, RequestEvent> = new Map();
  readonly #append: (position: number, event: PlanEvent) => Promise<void>;
  /** Numbers of earlier answers still to replay, in order. */
  readonly #waiting: number[] = [];
  readonly #held = new Map<number, () => void>();
  readonly #replayed = Promise.withResolvers<void>();
  #last: Promise<void> = Promise.resolve();

  constructor({ handle, events }: Plan, plans: PlanStore, principalId: string) {
    this.events = [...events];
    // Events of a plan without a handle stay in memory.
    this.#append = async (position, event) => {
      if (handle !== undefined) await plans.append(handle, principalId, position, event as unknown as Json);
    };
    for (const event of events) {
      if (event.at === "withdrawn") this.earlier.delete(event.number);
      if (event.at === "began" || event.at === "ended") this.earlier.set(event.number, event);
      if (event.at === "ended") this.#waiting.push(event.number);
    }
    if (this.isReplayed) this.#replayed.resolve();
  }

  /** Records an event. Resolves when it is stored. */
  add(event: PlanEvent): Promise<void> {
    const position = this.events.push(event) - 1;
    // Events are stored in order: a concurrent run fails before its next effect.
    this.#last = this.#last.then(() => this.#append(position, event));
    return this.#last;
  }

  /** Delivers the answer to an earlier request when its turn comes. */
  replay(number: number, deliver: () => void): void {
    this.#held.set(number, deliver);
    while (this.#held.has(this.#waiting[0]!)) this.#held.get(this.#waiting.shift()!)!();
    if (this.isReplayed) this.#replayed.resolve();
  }

  get isReplayed(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves when all earlier answers were replayed. New answers must wait for it. */
  get replayed(): Promise<void> {
    return this.#replayed.promise;
  }
}
