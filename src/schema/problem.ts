import { PROBLEMS, type ProblemCode } from "./problems.ts";
import { type Saying, say, type Words } from "./say.ts";

type Fills = Readonly<Record<string, unknown>>;

/** Problems that reach code rather than a model name the gateway's own operations. */
const IN_CODE: Words = {
  ask: "ask",
  help: "help",
  get: "get",
  exec: "exec",
  batch: "batch",
  params: "params",
  dry_run: "dry_run",
};

/** An error for the reader who must act: a code, one sentence, the next step. Match it by `code`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly #fills: Fills;

  constructor(code: ProblemCode, fills: Fills, details: Record<string, unknown>) {
    super(say(messageOf(code, fills), IN_CODE));
    this.name = "Problem";
    this.code = code;
    this.next = say(nextOf(code, fills), IN_CODE);
    this.details = details;
    this.#fills = fills;
  }

  /** The sentence and the next step in the words of a surface. */
  inWords(words: Words): { readonly message: string; readonly next: string } {
    return {
      message: say(messageOf(this.code, this.#fills), words),
      next: say(nextOf(this.code, this.#fills), words),
    };
  }

  toJSON(): { code: ProblemCode; message: string; next: string; details: Fills } {
    return { code: this.code, message: this.message, next: this.next, details: this.details };
  }
}

/**
 * Makes the problem of that code. `fills` replace the `{words}` of its sentences.
 *
 * @example
 * ```ts
 * throw problem("CONFLICT", { reason: "The page was changed meanwhile." });
 * ```
 */
export function problem(
  code: ProblemCode,
  fills: Fills = {},
  details: Record<string, unknown> = {},
): Problem {
  return new Problem(code, fills, details);
}

/** Recognises a problem by its code, also one that another copy of the package raised. */
export function isProblem(value: unknown): value is Problem {
  return value instanceof Error && "code" in value && Object.hasOwn(PROBLEMS, String(value.code));
}

function messageOf(code: ProblemCode, fills: Fills): Saying {
  return { sentences: PROBLEMS[code].sentence, fills };
}

function nextOf(code: ProblemCode, fills: Fills): Saying {
  return { sentences: PROBLEMS[code].next, fills };
}
