import { z } from "zod";
import { isProblem, problemSaying } from "../schema/problem.ts";
import { PROBLEMS, type ProblemCode } from "../schema/problems.ts";
import { reasonOf } from "../util/reason-of.ts";

/** The outcome of a call as other gateways read it. */
export type StoredOutcome = z.infer<typeof outcomeSchema>;

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

const outcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answer"), answer: z.record(z.string(), z.json()) }),
  /** The value is stored with the large results. */
  z.object({ kind: z.literal("large"), rest: z.record(z.string(), z.json()), handle: z.string() }),
  z.object({
    kind: z.literal("problem"),
    code: z.enum(CODES),
    message: z.string(),
    next: z.string(),
    details: z.record(z.string(), z.json()),
  }),
  z.object({ kind: z.literal("error"), message: z.string() }),
  z.object({ kind: z.literal("not-kept") }),
]);

export function toOutcomeText(outcome: StoredOutcome): string {
  return JSON.stringify(outcome);
}

/** Counts as not kept if unreadable. */
export function fromOutcomeText(text: string): StoredOutcome {
  try {
    return outcomeSchema.parse(JSON.parse(text));
  } catch {
    return { kind: "not-kept" };
  }
}

export function toFailure(error: unknown): StoredOutcome {
  if (!isProblem(error)) return { kind: "error", message: reasonOf(error) };
  const { code, message, next, details } = error.toJSON();
  return { kind: "problem", code, message, next, details: JSON.parse(JSON.stringify(details)) };
}

export function fromFailure(outcome: StoredOutcome & { kind: "problem" | "error" }): Error {
  if (outcome.kind === "error") return new Error(outcome.message);
  return problemSaying(outcome.code, outcome.message, outcome.next, outcome.details);
}
