import { PROBLEMS, type ProblemCode } from "./problems.ts";

/** An error for the reader who must act: a code, one sentence, the next step. Match it by `code`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, message: string, next: string, details: Record<string, unknown>) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.next = next;
    this.details = details;
  }

  toJSON(): { code: ProblemCode; message: string; next: string; details: Readonly<Record<string, unknown>> } {
    return { code: this.code, message: this.message, next: this.next, details: this.details };
  }
}

/** Makes the problem of that code; `fills` replace the `{words}` of its sentence. */
export function problem(
  code: ProblemCode,
  fills: Record<string, unknown> = {},
  details: Record<string, unknown> = {},
): Problem {
  const { sentence, next } = PROBLEMS[code];
  return new Problem(code, fill(sentence, fills), fill(next, fills), details);
}

/** Recognises a problem by its code, whichever copy of the package raised it. */
export function isProblem(value: unknown): value is Problem {
  return value instanceof Error && "code" in value && Object.hasOwn(PROBLEMS, String(value.code));
}

function fill(template: string, fills: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (whole, key: string) =>
    Object.hasOwn(fills, key) ? String(fills[key]) : whole,
  );
}
