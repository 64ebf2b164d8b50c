import type { ScriptOutcome, StopReason } from "../sandbox/sandbox.ts";
import { type Problem, problem } from "../schema/problem.ts";
import { cutText } from "../util/cut-text.ts";
import { nearest } from "../util/nearest.ts";
import { type Failure, ROOT } from "./error-answer.ts";
import type { Performance } from "./perform-plan.ts";

const REASON_CHARS = 1_000;
const SHOWN_FIELDS = 12;

const DO_LESS = "Make it do less at once.";
const STOPS = {
  time: { reason: "its time was over", advice: DO_LESS },
  compute: { reason: "it computed for too long", advice: DO_LESS },
  memory: { reason: "it used too much memory", advice: DO_LESS },
  stuck: {
    reason: "it waited for something that never comes",
    advice: "A script can wait only for tools, call, get, ask, help and sleep.",
  },
  crashed: { reason: "its engine failed", advice: DO_LESS },
} satisfies Record<Exclude<StopReason, "cancelled">, object>;

/** The failure of a script that did not return. The problem of a call that it did not catch is its own. */
export function scriptFailure({
  outcome: { end, misses },
  failures,
}: Pick<Performance, "outcome" | "failures">): Failure | undefined {
  if (end.end === "returned") return undefined;
  if (end.end === "stopped") return inScript(stopProblem(end.why));
  const { name, message, line, problem: given } = end.error;
  const uncaught = given === undefined ? undefined : failures.get(given);
  if (uncaught) return uncaught;
  const where = line === undefined ? "" : ` near line ${line}`;
  const said = `${name}: ${message}`;
  // A field that is not there reads as undefined, and fails only where it is used.
  const hint = name === "TypeError" ? missText(misses.at(-1)) : "";
  const reason = cutText(`${/[.!?]$/.test(said) ? said : `${said}.`}${hint}`, REASON_CHARS);
  return inScript(problem("SCRIPT_FAILED", { where, reason }));
}

function stopProblem(why: StopReason): Problem {
  if (why === "cancelled") return problem("CANCELLED", { name: "The script" });
  return problem("SCRIPT_STOPPED", STOPS[why]);
}

function inScript(failed: Problem): Failure {
  return { problem: failed, helpPath: ROOT };
}

/** Says that a result has no field of that name, and which it has. */
export function missText(miss: ScriptOutcome["misses"][number] | undefined): string {
  if (!miss) return "";
  const { field, fields, label } = miss;
  const [near] = nearest(field, fields, 1);
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  const shown = fields.slice(0, SHOWN_FIELDS).join(", ") + (fields.length > SHOWN_FIELDS ? ", …" : "");
  return ` The result of ${label} has no field ${cutText(field, 80)}.${meant} Its fields: ${shown}.`;
}
