import type { ScriptAnswer, ScriptLimits, ScriptOutcome } from "../sandbox/sandbox.ts";
import type { Entry } from "../schema/entry.ts";
import { type Problem, problem } from "../schema/problem.ts";
import { asKnownProblem, type Failure } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import type { Plan, PlanEvent } from "./plan.ts";
import { type DryReason, type PerformedEffect, ScriptCalls } from "./script-calls.ts";

/** One run of a script: how it ended, and what it changed or would change. */
export interface Performance {
  readonly outcome: ScriptOutcome;
  /** In the order in which the script made them. */
  readonly effects: readonly PerformedEffect[];
  readonly dry?: DryReason;
  readonly events: readonly PlanEvent[];
  readonly requests: number;
  /** The entries that the script called. */
  readonly called: readonly Entry[];
  /** The others who wrote results that the script read. */
  readonly sources: readonly string[];
  /** The failed calls by the JSON that the script got of them. */
  readonly failures: ReadonlyMap<string, Failure>;
  /** The run was given up: it made other calls than before, or another run performs the plan. */
  readonly refused?: Problem;
}

/**
 * Runs the script of a plan once. Calls that an earlier run has finished are answered from the plan. Effects run
 * until one is not allowed to; from there on they run dry, so that the rest of the script shows what would follow.
 */
export async function perform(
  plan: Plan,
  dryRun: boolean | undefined,
  limits: ScriptLimits,
  outer: OperationContext,
): Promise<Performance> {
  const stop = new AbortController();
  const { signal } = stop;
  // A signal made by AbortSignal.any would cost every call of the script more.
  const cancel = () => stop.abort(outer.request.signal.reason);
  if (outer.request.signal.aborted) cancel();
  else outer.request.signal.addEventListener("abort", cancel, { once: true });
  const context: OperationContext = { ...outer, request: { ...withListener(outer.request), signal } };
  const calls = new ScriptCalls(plan, dryRun, context);
  const running = new Set<Promise<void>>();
  let refused: Problem | undefined;

  function giveUp(error: unknown): void {
    refused ??= asKnownProblem(error, "run");
    stop.abort(refused);
  }

  const host = {
    request: (request: unknown, number: number, answer: (answer: ScriptAnswer) => void) => {
      const served = calls.serve(request, number, answer).catch(giveUp);
      running.add(served);
      void served.finally(() => running.delete(served));
    },
  };
  const { code, params, now, seed } = plan.script;
  const script = { code, now, seed, params: JSON.stringify(params), limits };
  const outcome = await outer.scripts.sandbox
    .run(script, host, { signal, owner: outer.view.principal.id })
    .finally(() => outer.request.signal.removeEventListener("abort", cancel));
  if (!calls.replay.isOver && outcome.end.end !== "stopped")
    giveUp(problem("PLAN_CHANGED", { number: calls.requests + 1 }));
  stop.abort();
  await Promise.allSettled(running);
  return {
    outcome,
    effects: [...calls.effects.values()].sort((one, other) => one.number - other.number),
    ...(calls.dry && { dry: calls.dry }),
    events: calls.recording.events,
    requests: calls.requests,
    called: [...calls.called],
    failures: calls.failures,
    sources: [...calls.sources],
    ...(refused && { refused }),
  };
}

/**
 * A call inside a script tells the client its progress and logs. It cannot ask, because the client's answers belong
 * to the script's own call. The steps of all calls are counted together, because progress has to grow.
 */
function withListener({ client, ...request }: OperationContext["request"]): OperationContext["request"] {
  if (!client) return request;
  const { log, logLevel } = client;
  let steps = 0;
  const progress: typeof client.progress = ({ message }) => {
    steps += 1;
    client.progress({ progress: steps, ...(message !== undefined && { message }) });
  };
  return { ...request, client: { progress, log, logLevel, capabilities: {}, responses: {} } };
}
