import type { z } from "zod";
import type { ToolNames } from "../../base/problems/format-message.ts";
import type { Problem } from "../../base/problems/problem.ts";
import type { TokenCounter } from "../../base/tokens/tokens.ts";
import type { CallScope } from "../calls/call-environment.ts";
import type { ApprovalRequest, CallRequest } from "../calls/decide-call.ts";
import type { Recipe } from "../nouns/recipe.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Cause } from "../sessions/working-memory.ts";
import type { PlanStore } from "../storage/plan-store.ts";
import type { ResultStore } from "../storage/result-store.ts";
import type { SessionStore } from "../storage/session-store.ts";
import type { AnswerLimits } from "./answer-parts.ts";
import type { ErrorAnswer } from "./error-answer.ts";

/** Bounds of one call and of its answer. */
export interface Limits {
  /** Default tokens of an `ask` answer. */
  readonly askTokens: number;
  /** Tokens of one result or directory; larger ones go to the result store. */
  readonly resultTokens: number;
  /** Tokens of the first look at a result that is larger than `resultTokens`. Reading on shows `resultTokens`. */
  readonly lookTokens: number;
  /** Tokens of the help for one entry, and of one error; the rest goes to the result store. */
  readonly helpTokens: number;
  /** Bytes of an answer as JSON: some clients cut longer ones. Results of one answer share them. */
  readonly answerBytes: number;
  /** Milliseconds a tool or resource may take, unless its definition says otherwise. */
  readonly callMs: number;
  /** Requests in one batch, and routes in one get. */
  readonly batchSize: number;
  /** Requests of a batch or get that run at the same time. */
  readonly concurrency: number;
  /** Tokens that one session may receive in total. Answers shrink to the rest; after that, calls are refused. */
  readonly sessionTokens: number;
  /** Milliseconds that a script may take, the calls in it included. */
  readonly scriptMs: number;
  /** Calls that a script may make. */
  readonly scriptCalls: number;
  /** Bytes of memory that a script may use. */
  readonly scriptBytes: number;
}

/** Everything that an operation works with. It sees a View, never the catalog. */
export interface OperationContext extends CallScope {
  readonly limits: Limits;
  readonly countTokens: TokenCounter;
  readonly sessions: SessionStore;
  readonly results: ResultStore;
  /** For `run` alone. */
  readonly scripts: Scripts;
  /** Sources that could not be read and have no entries, as far as the caller may know of them. */
  failedSources(): readonly FailedRead[];
  /** How many hits of an `ask` count as discovered and bring their rules; absent: all. */
  readonly discovers?: number;
  /**
   * Tells the owner if an address that the view lacks is refused for want of a scope. Returns the refusal if the owner
   * lets callers know.
   */
  refusal(address: string): Problem | undefined;
}

/** A source that could not be read. */
export interface FailedRead {
  readonly name: string;
  readonly reason: string;
}

/** A part of an answer's text that the ledger counts under another cause. */
export interface Aside {
  readonly cause: Cause;
  readonly text: string;
}

/** How people write an operation on a command line, after its name. */
export interface CommandForm {
  /** The name of the command, if another command has the operation's own. */
  readonly name?: string;
  /** The arguments, such as `OP [name=value…]`. */
  readonly usage: string;
  /** Words of the form `name=value` are values. Without it, they are plain words. */
  readonly takesValues?: true;
  toInput(words: readonly string[], values: Readonly<Record<string, unknown>>): object;
}

/** A call of an entry that an input would make. */
export interface PlannedCall extends CallRequest {
  readonly address: string;
}

/**
 * The one definition of an operation; every face is derived from it. `run` returns an outcome, `show` fits it into
 * the room and puts it into the words of the surface, `toText` writes it for a model.
 */
export interface Operation<I extends z.ZodType, Outcome, O extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** Tells a model what the operation does and when to use it; may name roles. */
  readonly purpose: string;
  /** Completes a sentence that begins with the tool's name, for a server's instructions. */
  readonly introduction: string;
  /** The tool's name on each surface that shows it. */
  readonly names: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly input: I;
  readonly output: O;
  readonly command: CommandForm;
  /** Fields that models do not see. */
  readonly unlisted?: readonly string[];
  /** Other spellings of fields that models send. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Undoes a nesting that models send. */
  readonly repair?: (given: unknown) => unknown;
  /** The field that takes all unknown ones where it is empty. */
  readonly beside?: string;
  /** The calls that an input would make: whether a person is asked depends on them. A script is asked about by its plan. */
  calls(input: z.output<I>): readonly PlannedCall[];
  run(input: z.output<I>, context: OperationContext): Promise<Outcome>;
  /** The question that the outcome of an input with one call at most waits for. With its answer, the same input goes on. */
  question?(outcome: Outcome): ApprovalRequest | undefined;
  show(outcome: Outcome, room: AnswerLimits): z.input<O>;
  toText(output: z.input<O>, words: ToolNames): string;
  /** The error of each request in an answer, or undefined where it succeeded. An answer fails if all of them failed. */
  errors(output: z.input<O>): readonly (ErrorAnswer | undefined)[];
  /** An empty answer, which carries the error of an input that could not run. */
  refuse(error: ErrorAnswer, input: unknown, traceId: string): z.input<O>;
  /** Records in the session what the answer shows. */
  noteShown?(output: z.input<O>, context: OperationContext): void;
  /** The ledger's cause for its answers. */
  readonly cause: Cause;
  /** Parts of an answer's text that the ledger counts under another cause. */
  asides?(output: z.input<O>, context: OperationContext, words: ToolNames): readonly Aside[];
  /** The addresses that an input names, for the record. */
  targets(input: z.output<I>): readonly string[];
}

/** Defines an operation; the table in `operations.ts` lists it for every face. */
export function defineOperation<I extends z.ZodType, Outcome, O extends z.ZodType>(
  operation: Operation<I, Outcome, O>,
): Operation<I, Outcome, O> {
  return operation;
}

/** A gateway's recipes, as `run` keeps them. */
export interface RecipeKeeper {
  /** @throws CONFLICT if another recipe has the name. */
  check(recipe: Pick<Recipe, "name" | "code">): Promise<void>;
  /** Saves a recipe as a tool that waits for approval. Resolves to the name of its file, and a way to approve it. */
  keep(recipe: Recipe): Promise<{ readonly file: string; approve(): Promise<unknown> }>;
}

/** Everything that running a script needs, apart from what its calls need. */
export interface Scripts {
  readonly plans: PlanStore;
  readonly sandbox: Sandbox;
  /** Keeps scripts as tools. Absent if the gateway keeps none. */
  readonly recipes?: RecipeKeeper;
  /** The handle that a question of an earlier round left, to go on from there. */
  readonly resume?: string;
}
