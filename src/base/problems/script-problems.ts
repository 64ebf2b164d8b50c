import type { ProblemRow } from "./format-message.ts";

/** The problems of scripts, plans and recipes. See `problems.ts`. */
export const SCRIPT_PROBLEMS = {
  SCRIPT_FAILED: {
    sentence: "The script failed{where}: {reason}",
    next: "Correct the script. Calls that have run are listed: do not repeat them.",
    when: "The script of a run threw an error, or has a mistake.",
  },
  SCRIPT_STOPPED: {
    sentence: "The script was ended: {reason}.",
    next: "{advice} Calls that have run are listed: do not repeat them.",
    when: "The script of a run took too much time or memory, or waited for something that never comes.",
  },
  PLAN_DIFFERS: {
    sentence: "{name} was not what the plan has next, so it and everything after it ran dry.",
    next: 'Read the plan as it is now. To perform it, call {run} with plan: "{plan}".',
    when: "A script that performs a plan would change something else than the plan says.",
  },
  PLAN_CHANGED: {
    sentence: "The script made other calls than before, from call {number} on, so it was ended.",
    next: "Start again without the plan. Calls that have run are listed: do not repeat them.",
    when: "A run is continued, and its script does not repeat the calls that were finished.",
  },
  EFFECT_UNKNOWN: {
    sentence: "{name} was begun by a run that ended before it was finished, so it may have taken effect.",
    next: "Read whether it took effect, then decide whether to call it again.",
    when: "A run is continued after its process ended in the middle of a call that writes.",
  },
  BEYOND_RECIPE: {
    sentence: "{name} {does}, and the recipe was kept without such a call.",
    next: "Run the recipe's code with {run}, which asks as usual, and keep it again.",
    when: "A recipe made a call that changes something and that its kept version does not name.",
  },
} as const satisfies Record<string, ProblemRow>;

/** Sentences of APPROVAL_REQUIRED for a plan: the dry run of a plan is one of {run}. */
export const UNAPPROVED_PLAN = {
  sentence:
    "The {name} runs only after a person has approved its effects{because}, and nobody could be asked.",
  next: ["Use {run} with {dry_run} to see what it would do.", "{find_approver}"],
} as const;

/** The same for a plan that can be approved in another process. */
export const WAITING_PLAN = { sentence: UNAPPROVED_PLAN.sentence, next: "{approve_call}" } as const;
