import { PROBLEMS, type ProblemCode } from "./problems.ts";
import { type Saying, say, type Words } from "./say.ts";

type Fills = Readonly<Record<string, unknown>>;
type Row = { readonly sentence: Saying["sentences"]; readonly next: Saying["sentences"] };

/** Problems that reach code rather than a model name the gateway's own operations. */
const IN_CODE: Words = {
  ask: "ask",
  help: "help",
  get: "get",
  exec: "exec",
  batch: "batch",
  run: "run",
  params: "params",
  dry_run: "dry_run",
};

/** An error for the reader who must act: a code, one sentence, the next step. Match it by `code`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly #fills: Fills;
  readonly #row: Row;

  constructor(code: ProblemCode, fills: Fills, details: Record<string, unknown>, row: Row = PROBLEMS[code]) {
    super(say({ sentences: row.sentence, fills }, IN_CODE));
    this.name = "Problem";
    this.code = code;
    this.next = say({ sentences: row.next, fills }, IN_CODE);
    this.details = details;
    this.#fills = fills;
    this.#row = row;
  }

  /** The sentence and the next step in the words of a surface. */
  inWords(words: Words): { readonly message: string; readonly next: string } {
    return {
      message: say({ sentences: this.#row.sentence, fills: this.#fills }, words),
      next: say({ sentences: this.#row.next, fills: this.#fills }, words),
    };
  }

  toJSON(): { code: ProblemCode; message: string; next: string; details: Readonly<Record<string, unknown>> } {
    return { code: this.code, message: this.message, next: this.next, details: this.details };
  }
}

/**
 * Makes the problem of that code, for a tool to throw. `fills` replace the `{words}` of its sentences. See
 * {@link isProblem}.
 *
 * @example
 * ```ts
 * import { defineTool, problem } from "keyhole";
 *
 * defineTool({
 *   name: "save_page",
 *   description: "Save the page.",
 *   execute: () => {
 *     throw problem("CONFLICT", { reason: "The page was changed meanwhile." });
 *   },
 * });
 * ```
 */
export function problem(
  code: ProblemCode,
  fills: Readonly<Record<string, unknown>> = {},
  details: Record<string, unknown> = {},
): Problem {
  return new Problem(code, fills, details);
}

const OWN_WORDS: Row = { sentence: "{message}", next: "{next}" };

/** Makes a problem of that code with a message and next step of its own, for failures that come with both. */
export function problemSaying(
  code: ProblemCode,
  message: string,
  next: string,
  details: Record<string, unknown> = {},
): Problem {
  return new Problem(code, { message, next }, details, OWN_WORDS);
}

/**
 * Recognises a problem of any copy of the package. See {@link problem}.
 *
 * @example
 * ```ts
 * import { isProblem, problem } from "keyhole";
 *
 * try {
 *   throw problem("CONFLICT", { reason: "The page was changed meanwhile." });
 * } catch (error) {
 *   console.assert(isProblem(error) && error.code === "CONFLICT");
 * }
 * ```
 */
export function isProblem(value: unknown): value is Problem {
  if (!(value instanceof Error) || !("code" in value) || !("next" in value)) return false;
  return typeof value.next === "string" && Object.hasOwn(PROBLEMS, String(value.code));
}
