import { z } from "zod";
import type { ToolNames } from "../../base/problems/format-message.ts";
import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { mapLimit } from "../../base/util/map-limit.ts";
import {
  type AnswerLimits,
  NO_RESULTS,
  resultsSchema,
  sessionText,
  showParts,
  toResults,
} from "./answer-parts.ts";
import { failureOf } from "./call-address.ts";
import {
  type ErrorAnswer,
  errorSchema,
  errorText,
  type FailedOperation,
  helpPathOf,
  toErrorAnswer,
  toOperationProblem,
} from "./error-answer.ts";
import {
  type ExecOutcome,
  exec,
  execInput,
  execOutput,
  execText,
  execute,
  plannedExec,
  showExecuted,
} from "./exec.ts";
import { type Described, describe, helpInput, helpOutput, helpText, showHelp } from "./help.ts";
import { defineOperation, type OperationContext } from "./operation.ts";

const requestSchema = z
  .object({
    id: z.string().min(1).max(64).optional().describe("A name for references"),
    help: helpInput.optional(),
    exec: execInput.optional(),
  })
  .refine(({ help, exec }) => (help === undefined) !== (exec === undefined), "give either help or exec");
type BatchRequest = z.output<typeof requestSchema>;

const answerSchema = z.union([
  z.object({ help: helpOutput }),
  z.object({ exec: execOutput }),
  z.object({ error: errorSchema }),
]);
type BatchAnswer = z.input<typeof answerSchema>;

type BatchOutcome =
  | { readonly help: Described }
  | { readonly exec: ExecOutcome }
  | { readonly failure: FailedOperation };

export const batch = defineOperation({
  name: "batch",
  title: "Several at once",
  purpose:
    'Runs several help and exec requests in one call, in order or in parallel. An arg {"$result": <index or id>, "path": "/json/pointer"} takes a value from an earlier result.',
  introduction: "does several at once",
  names: { commands: "tool_batch" },
  readOnly: false,
  input: z.object({
    requests: z.array(requestSchema).min(1),
    mode: z.enum(["ordered", "parallel"]).default("ordered"),
    session: z.string().optional(),
  }),
  output: resultsSchema(answerSchema),
  command: { usage: "--requests JSON", toInput: () => ({}) },
  calls: ({ requests }) => requests.flatMap(({ exec }) => (exec ? [plannedExec(exec)] : [])),
  run: async ({ requests, mode }, context) => {
    const limit = context.limits.batchSize;
    if (requests.length > limit) {
      throw problem("LIMIT_EXCEEDED", { what: "The number of requests", actual: requests.length, limit });
    }
    return runAll(requests, mode === "parallel" ? context.limits.concurrency : 1, context);
  },
  question: (outcomes) => {
    const asking = outcomes.find((outcome) => "exec" in outcome && outcome.exec.outcome.is === "asks");
    return asking && "exec" in asking ? exec.question?.(asking.exec) : undefined;
  },
  show: (outcomes, room) => {
    const results = showParts(outcomes, room, showOutcome, (answer) => answerText(answer, room.words));
    return toResults(results, (result) => errorOf(result) !== undefined, room);
  },
  toText: ({ results, session }, words) =>
    `${results.map((result, index) => `[${index}] ${answerText(result, words)}`).join("\n\n")}${sessionText(session)}`,
  errors: ({ results }) => results.map(errorOf),
  refuse: () => NO_RESULTS,
  cause: "results",
  asides: ({ results }) =>
    results.flatMap((answer) => ("help" in answer ? [{ cause: "help", text: helpText(answer.help) }] : [])),
  targets: ({ requests }) => requests.map(({ help, exec }) => exec?.op ?? exec?.route ?? help?.path ?? ""),
});

/** Starts requests in order. A request waits for those it refers to, which have started, so none waits for itself. */
async function runAll(
  requests: readonly BatchRequest[],
  concurrency: number,
  context: OperationContext,
): Promise<BatchOutcome[]> {
  const done = requests.map(() => Promise.withResolvers<ExecOutcome | undefined>());
  const indexOf = (reference: number | string) =>
    typeof reference === "number" ? reference : requests.findIndex(({ id }) => id === reference);
  return mapLimit(requests, concurrency, async (request, index) => {
    const outcome = await runOne(request, context, async (reference) => {
      const target = indexOf(reference);
      return target >= 0 && target < index ? done[target]!.promise : undefined;
    });
    done[index]!.resolve("exec" in outcome ? outcome.exec : undefined);
    return outcome;
  });
}

async function runOne(
  { help, exec }: BatchRequest,
  context: OperationContext,
  earlier: Earlier,
): Promise<BatchOutcome> {
  const path = exec?.op ?? exec?.route ?? help?.path ?? "";
  try {
    if (help) return { help: describe(help, context) };
    const args = (await resolveReferences(exec!.args ?? {}, earlier)) as Record<string, unknown>;
    return { exec: await execute({ ...exec, args }, context) };
  } catch (error) {
    const failed = toOperationProblem(error, path);
    return { failure: { problem: failed, helpPath: helpPathOf(path, context.view) } };
  }
}

function showOutcome(outcome: BatchOutcome, room: AnswerLimits): BatchAnswer {
  if ("failure" in outcome) return { error: toErrorAnswer(outcome.failure, room) };
  return "help" in outcome
    ? { help: showHelp(outcome.help, room) }
    : { exec: showExecuted(outcome.exec, room) };
}

function errorOf(answer: BatchAnswer): ErrorAnswer | undefined {
  if ("error" in answer) return answer.error;
  return "exec" in answer && !answer.exec.ok ? answer.exec.error : undefined;
}

function answerText(answer: BatchAnswer, words: ToolNames): string {
  if ("error" in answer) return errorText(answer.error);
  return "help" in answer ? helpText(answer.help) : execText(answer.exec, words);
}

const MAX_DEPTH = 64;

type Earlier = (reference: number | string) => Promise<ExecOutcome | undefined>;

/** Replaces every `{ "$result": index or id, "path": "/pointer" }` in args with the value that it refers to. */
async function resolveReferences(value: unknown, earlier: Earlier, depth = 0): Promise<unknown> {
  if (value === null || typeof value !== "object") return value;
  if (depth > MAX_DEPTH)
    throw problem("LIMIT_EXCEEDED", { what: "The depth of args", actual: "more", limit: MAX_DEPTH });
  if (Array.isArray(value))
    return Promise.all(value.map((item) => resolveReferences(item, earlier, depth + 1)));
  if (isReference(value)) return follow(value, earlier);
  const fields = Object.entries(value).map(async ([key, field]) => [
    key,
    await resolveReferences(field, earlier, depth + 1),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

interface Reference {
  readonly $result: number | string;
  readonly path?: string;
}

function isReference(value: object): value is Reference {
  if (!Object.hasOwn(value, "$result")) return false;
  const { $result, path } = value as Partial<Reference>;
  const isAddressed = typeof $result === "number" || typeof $result === "string";
  return isAddressed && (path === undefined || typeof path === "string");
}

async function follow({ $result, path = "" }: Reference, earlier: Earlier): Promise<Json> {
  const executed = await earlier($result);
  const failed = (reason: string) => problem("REFERENCE_FAILED", { reference: `${$result}${path}`, reason });
  if (!executed) throw failed("there is no earlier exec request of that index or id");
  const { outcome } = executed;
  if (outcome.is !== "done") throw failed(`that request failed with ${failureOf(outcome).problem.code}`);
  const { JSONPointer } = await import("json-p3");
  try {
    return new JSONPointer(path).resolve(outcome.value) as Json;
  } catch {
    throw failed("the path does not exist in its result");
  }
}
