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

/** Limits of one call and of its answer. */
export interface Limits {
  /** Default tokens of an `ask` answer. */
  readonly askTokens: number;
  /** Tokens of one result or directory. Larger ones are stored. */
  readonly resultTokens: number;
  /** Tokens of the first look at a result over `resultTokens`. Further reads show `resultTokens`. */
  readonly lookTokens: number;
  /** Tokens of the help for one entry, and of one error. The remaining part is stored. */
  readonly helpTokens: number;
  /** Bytes of an answer as JSON, because some clients cut longer answers. Results of one answer share them. */
  readonly answerBytes: number;
  /** Default milliseconds of a tool or resource. */
  readonly callMs: number;
  /** Requests of one batch, and routes of one get. */
  readonly batchSize: number;
  /** Requests of a batch or get that run at the same time. */
  readonly concurrency: number;
  /** Tokens of all answers to one session. Answers shrink to what remains; after that, calls are refused. */
  readonly sessionTokens: number;
  /** Milliseconds of a script, including its calls. */
  readonly scriptMs: number;
  /** Calls of a script. */
  readonly scriptCalls: number;
  /** Bytes of memory of a script. */
  readonly scriptBytes: number;
}

/** Everything an operation needs. It has a View, never the catalog. */
export interface OperationContext extends CallScope {
  readonly limits: Limits;
  readonly countTokens: TokenCounter;
  readonly sessions: SessionStore;
  readonly results: ResultStore;
  /** Only for `run`. */
  readonly scripts: Scripts;
  /** Sources without entries that could not be read, among those that the caller may know. */
  failedSources(): readonly FailedRead[];
  /** How many hits of an `ask` count as discovered and bring their rules. Absent: all. */
  readonly discovers?: number;
  /** Publishes that a missing scope hides this address. Returns the refusal if callers may learn of it. */
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

/** How an operation is typed on a command line. */
export interface CommandForm {
  /** Name of the command, if the operation's own name is taken. */
  readonly name?: string;
  /** The arguments, such as `OP [name=value…]`. */
  readonly usage: string;
  /** Parse words of the form `name=value`. Otherwise all words are plain. */
  readonly takesValues?: true;
  toInput(words: readonly string[], values: Readonly<Record<string, unknown>>): object;
}

/** A call of an entry that an input would make. */
export interface PlannedCall extends CallRequest {
  readonly address: string;
}

/**
 * The only definition of an operation, for every face. `run` returns an outcome, `show` fits it into the limits in the
 * words of the surface, `toText` writes it for a model.
 */
export interface Operation<I extends z.ZodType, Outcome, O extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** For a model: what the operation does and when to use it. May name roles. */
  readonly purpose: string;
  /** Continues a sentence that begins with the tool's name, for a server's instructions. */
  readonly introduction: string;
  /** Name of the tool on each surface that shows it. */
  readonly names: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly input: I;
  readonly output: O;
  readonly command: CommandForm;
  /** Fields hidden from models. */
  readonly unlisted?: readonly string[];
  /** Other names of fields that models send. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Undoes nesting that models send. */
  readonly repair?: (given: unknown) => unknown;
  /** A field that, if empty, takes all unknown fields. */
  readonly beside?: string;
  /** The calls that an input would make, to decide whether a person is asked. A script is asked about by its plan. */
  calls(input: z.output<I>): readonly PlannedCall[];
  run(input: z.output<I>, context: OperationContext): Promise<Outcome>;
  /** The question that the outcome of an input with at most one call waits for. Its answer continues the input. */
  question?(outcome: Outcome): ApprovalRequest | undefined;
  show(outcome: Outcome, room: AnswerLimits): z.input<O>;
  toText(output: z.input<O>, words: ToolNames): string;
  /** The error of each request in an answer, undefined for a success. An answer fails if all its requests failed. */
  errors(output: z.input<O>): readonly (ErrorAnswer | undefined)[];
  /** An empty answer with the error of an input that could not run. */
  refuse(error: ErrorAnswer, input: unknown, traceId: string): z.input<O>;
  /** Records the shown answer in the session. */
  noteShown?(output: z.input<O>, context: OperationContext): void;
  /** The ledger's cause for its answers. */
  readonly cause: Cause;
  /** Parts of an answer's text that the ledger counts under another cause. */
  asides?(output: z.input<O>, context: OperationContext, words: ToolNames): readonly Aside[];
  /** The addresses in an input, for the record. */
  targets(input: z.output<I>): readonly string[];
}

/** Defines an operation. The table in `operations.ts` lists it for every face. */
export function defineOperation<I extends z.ZodType, Outcome, O extends z.ZodType>(
  operation: Operation<I, Outcome, O>,
): Operation<I, Outcome, O> {
  return operation;
}

/** Saves scripts as recipes of a gateway. */
export interface RecipeKeeper {
  /** @throws CONFLICT if another recipe has this name. */
  check(recipe: Pick<Recipe, "name" | "code">): Promise<void>;
  /** Saves a recipe as a tool that waits for approval. Resolves to its file name and a way to approve it. */
  keep(recipe: Recipe): Promise<{ readonly file: string; approve(): Promise<unknown> }>;
}

/** Everything needed to run a script, besides what its calls need. */
export interface Scripts {
  readonly plans: PlanStore;
  readonly sandbox: Sandbox;
  /** Saves scripts as tools, if the gateway has a folder for them. */
  readonly recipes?: RecipeKeeper;
  /** Handle from the question of an earlier round, to resume from. */
  readonly resume?: string;
}
