import { z } from "zod";
import { problem } from "../schema/problem.ts";
import { mapLimit } from "../util/map-limit.ts";
import { errorSchema, errorText, helpPathOf, toErrorAnswer } from "./answer-parts.ts";
import { type Executed, execInput, execOutput, execText, execute } from "./exec.ts";
import { describe, helpInput, helpOutput, helpText } from "./help.ts";
import { defineOperation, type OperationContext, sessionField } from "./operation.ts";
import { resolveReferences } from "./references.ts";
import { asKnownProblem } from "./run-entry.ts";

const requestSchema = z
  .strictObject({
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

export const batch = defineOperation({
  name: "batch",
  title: "Several at once",
  purpose:
    'Runs several help and exec requests in one call, in order or in parallel. An arg {"$result": <index or id>, "path": "/json/pointer"} takes a value from an earlier result.',
  readOnly: false,
  input: z.strictObject({
    requests: z.array(requestSchema).min(1),
    mode: z.enum(["ordered", "parallel"]).default("ordered"),
    session: z.string().optional(),
  }),
  output: z.object({
    results: z.array(answerSchema),
    summary: z.object({ total: z.number(), success: z.number(), failed: z.number() }),
    session: z.string().optional(),
  }),
  run: async ({ requests, mode }, context) => {
    const limit = context.limits.batchSize;
    if (requests.length > limit) {
      throw problem("LIMIT_EXCEEDED", { what: "The number of requests", actual: requests.length, limit });
    }
    const results = await runAll(requests, mode === "parallel" ? context.limits.concurrency : 1, context);
    const success = results.filter((result) => codeOf(result) === "ok").length;
    return {
      results,
      summary: { total: results.length, success, failed: results.length - success },
      ...sessionField(context),
    };
  },
  toText: ({ results }) => results.map((result, index) => `[${index}] ${answerText(result)}`).join("\n\n"),
  cause: "results",
  asides: ({ results }) =>
    results.flatMap((answer) => ("help" in answer ? [{ cause: "help", text: helpText(answer.help) }] : [])),
  targets: ({ requests }) => requests.map(({ help, exec }) => exec?.op ?? exec?.route ?? help?.path ?? ""),
  outcome: ({ results }) => results.map(codeOf).find((code) => code !== "ok") ?? "ok",
});

/**
 * Starts requests in their order. A request waits for the earlier ones it refers to; those are started
 * before it, so nothing waits for itself.
 */
async function runAll(
  requests: readonly BatchRequest[],
  concurrency: number,
  context: OperationContext,
): Promise<BatchAnswer[]> {
  const done = requests.map(() => Promise.withResolvers<Executed | undefined>());
  const indexOf = (reference: number | string) =>
    typeof reference === "number" ? reference : requests.findIndex(({ id }) => id === reference);
  return mapLimit(requests, concurrency, async (request, index) => {
    const { answer, executed } = await runOne(request, context, async (reference) => {
      const target = indexOf(reference);
      return target >= 0 && target < index ? done[target]!.promise : undefined;
    });
    done[index]!.resolve(executed);
    return answer;
  });
}

async function runOne(
  { help, exec }: BatchRequest,
  context: OperationContext,
  earlier: (reference: number | string) => Promise<Executed | undefined>,
): Promise<{ answer: BatchAnswer; executed?: Executed }> {
  const path = exec?.op ?? exec?.route ?? help?.path ?? "";
  try {
    if (help) return { answer: { help: describe(help, context) } };
    if (!exec) throw problem("INVALID_INPUT", { operation: "batch", reason: "a request is empty" });
    const args = (await resolveReferences(exec.args ?? {}, earlier)) as Record<string, unknown>;
    const executed = await execute({ ...exec, args }, context);
    return { answer: { exec: executed.output }, executed };
  } catch (error) {
    const error_ = toErrorAnswer(asKnownProblem(error, path), helpPathOf(path, context));
    return { answer: { error: error_ } };
  }
}

function codeOf(answer: BatchAnswer): string {
  if ("error" in answer) return answer.error.code;
  if ("exec" in answer && !answer.exec.ok) return answer.exec.error.code;
  return "ok";
}

function answerText(answer: BatchAnswer): string {
  if ("error" in answer) return errorText(answer.error);
  return "help" in answer ? helpText(answer.help) : execText(answer.exec);
}
