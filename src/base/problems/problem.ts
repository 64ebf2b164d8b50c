import {
  type Fill,
  formatMessage,
  type MessageTemplate,
  ROLES,
  type Role,
  type ToolNames,
} from "./format-message.ts";
import { PROBLEMS, type ProblemCode } from "./problems.ts";

type Fills = Readonly<Record<string, Fill>>;

/** The `{words}` of a text. */
type WordsIn<Text> = Text extends `${string}{${infer Word}}${infer Tail}` ? Word | WordsIn<Tail> : never;
type TextsOf<Sentences> = Sentences extends readonly string[] ? Sentences[number] : Sentences;
type TextsOfRow<Code extends ProblemCode> =
  | TextsOf<(typeof PROBLEMS)[Code]["sentence"]>
  | TextsOf<(typeof PROBLEMS)[Code]["next"]>;

/** Fills for a problem's sentences: every `{word}` except roles, which the surface fills in. */
export type ProblemFills<Code extends ProblemCode> = {
  readonly [Word in Exclude<WordsIn<TextsOfRow<Code>>, Role>]: Fill;
};
/** Arguments of {@link problem} after the code: details, and fills, which are required if the sentences have any. */
export type ProblemArguments<Code extends ProblemCode> =
  Record<never, never> extends ProblemFills<Code>
    ? [fills?: ProblemFills<Code>, details?: Record<string, unknown>]
    : [fills: ProblemFills<Code>, details?: Record<string, unknown>];
type ProblemTableRow = {
  readonly sentence: MessageTemplate["sentences"];
  readonly next: MessageTemplate["sentences"];
};

/** Code, unlike a model, reads the names of the gateway's own operations. */
const IN_CODE: ToolNames = Object.fromEntries(ROLES.map((role) => [role, role]));

/** An error for a reader who must act: a code, a sentence, the next step. Match it by `code`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly #fills: Fills;
  readonly #row: ProblemTableRow;

  constructor(
    code: ProblemCode,
    fills: Fills,
    details: Record<string, unknown>,
    row: ProblemTableRow = PROBLEMS[code],
  ) {
    const { message, next } = format(row, fills, IN_CODE);
    super(message);
    this.name = "Problem";
    this.code = code;
    this.next = next;
    this.details = details;
    this.#fills = fills;
    this.#row = row;
  }

  /** The sentence and the next step in the words of a surface. */
  inWords(words: ToolNames): { readonly message: string; readonly next: string } {
    return format(this.#row, this.#fills, words);
  }

  toJSON(): { code: ProblemCode; message: string; next: string; details: Readonly<Record<string, unknown>> } {
    return { code: this.code, message: this.message, next: this.next, details: this.details };
  }
}

function format({ sentence, next }: ProblemTableRow, fills: Fills, words: ToolNames) {
  return {
    message: formatMessage({ sentences: sentence, fills }, words),
    next: formatMessage({ sentences: next, fills }, words),
  };
}

/**
 * Creates a problem for a tool to throw. `fills` replace the `{words}` of its sentences; a missing fill does not
 * compile. See {@link isProblem}.
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
export function problem<const Code extends ProblemCode>(
  code: Code,
  ...[fills, details = {}]: ProblemArguments<Code>
): Problem {
  return new Problem(code, fills ?? {}, details);
}

/** The next step of a code, for failures with their own message. Words that need a fill stay unchanged. */
export function nextStepOfCode(code: ProblemCode): string {
  return new Problem(code, {}, {}).next;
}

const OWN_WORDS: ProblemTableRow = { sentence: "{message}", next: "{next}" };

/** Creates a problem with its own message and next step. */
export function customProblem(
  code: ProblemCode,
  message: string,
  next: string,
  details: Record<string, unknown> = {},
): Problem {
  return new Problem(code, { message, next }, details, OWN_WORDS);
}

/**
 * Recognises a problem from any copy of the package. See {@link problem}.
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
