import { z } from "zod";
import type { ToolEntry } from "../schema/entry.ts";
import { isProblem, problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import {
  errorSchema,
  errorText,
  guidanceSchema,
  guidanceText,
  helpPathOf,
  notFound,
  toErrorAnswer,
} from "./answer-parts.ts";
import { argsSchema } from "./args-schema.ts";
import { addressOf, defineOperation, type OperationContext, sessionField } from "./operation.ts";
import {
  asKnownProblem,
  callHash,
  checkApproved,
  checkAvailable,
  checkParams,
  type Outcome,
  runEntry,
} from "./run-entry.ts";
import { storedSchema, toContentText } from "./show-result.ts";

export const execInput = z
  .strictObject({
    op: z.string().min(1).max(600).optional().describe("Op or route of a tool"),
    route: z.string().min(1).max(600).optional(),
    args: argsSchema.optional(),
    idempotency_key: z.string().min(1).max(256).optional(),
    dry_run: z
      .boolean()
      .optional()
      .describe("true: only say what would happen. Default for destructive tools"),
    session: z.string().optional(),
  })
  .refine(({ op, route }) => (op === undefined) !== (route === undefined), "give either op or route");
export type ExecInput = z.output<typeof execInput>;

const metaSchema = z.object({
  trace_id: z.string(),
  latency_ms: z.number(),
  warnings: z.array(z.string()),
  dry_run: z.boolean().optional(),
  stored: storedSchema.optional(),
});

export const execOutput = z.union([
  z.object({
    op: z.string(),
    ok: z.literal(true),
    result: z.unknown(),
    guidance: z.array(guidanceSchema).optional(),
    meta: metaSchema,
    session: z.string().optional(),
  }),
  z.object({
    op: z.string(),
    ok: z.literal(false),
    error: errorSchema,
    meta: metaSchema,
    session: z.string().optional(),
  }),
]);
export type ExecOutput = z.input<typeof execOutput>;

/** An answer with all of its result, which the answer itself may show only the beginning of. */
export interface Executed {
  readonly output: ExecOutput;
  readonly value?: Json;
}

export const exec = defineOperation({
  name: "exec",
  title: "Run a tool",
  purpose: "Runs one tool, also those that write. Destructive tools run dry unless dry_run is false.",
  readOnly: false,
  input: execInput,
  output: execOutput,
  run: async (input, context) => {
    const { output } = await execute(input, context);
    return { ...output, ...sessionField(context) };
  },
  toText: execText,
  cause: "results",
  targets: ({ op, route }) => [op ?? route ?? ""],
  outcome: (output) => (output.ok ? "ok" : output.error.code),
});

export function execText(output: ExecOutput): string {
  const session = output.session ? `\nsession: ${output.session}` : "";
  if (!output.ok) return `${output.op}: ${errorText(output.error)}\ntrace: ${output.meta.trace_id}${session}`;
  const { meta, result, guidance = [] } = output;
  const stored = meta.stored
    ? `\n[all ${meta.stored.chars} characters at ${meta.stored.handle}: ${meta.stored.read}]`
    : "";
  const warnings = meta.warnings.map((warning) => `\n[${warning}]`).join("");
  return `${output.op}: ${toContentText((result ?? null) as Json)}${stored}${warnings}${guidanceText(guidance)}${session}`;
}

/** Runs one tool and answers with an envelope, whatever happens. */
export async function execute(input: ExecInput, context: OperationContext): Promise<Executed> {
  const started = performance.now();
  const address = input.op ?? input.route ?? "";
  const entry = context.view.find(address);
  const op = entry?.op ?? address;
  const meta = () => ({ trace_id: context.traceId, latency_ms: Math.round(performance.now() - started) });
  try {
    if (entry?.kind !== "tool") throw notFound(address, context);
    const { outcome, warnings, dryRun } = await runTool(entry, input, context);
    const output: ExecOutput = {
      op,
      ok: true,
      result: outcome.content,
      ...(outcome.guidance.length > 0 && { guidance: outcome.guidance }),
      meta: {
        ...meta(),
        warnings: [...warnings, ...outcome.warnings],
        ...(dryRun && { dry_run: true }),
        ...(outcome.stored && { stored: outcome.stored }),
      },
    };
    return { output, value: outcome.value };
  } catch (error) {
    const answer = toErrorAnswer(asKnownProblem(error, op), helpPathOf(address, context));
    return { output: { op, ok: false, error: answer, meta: { ...meta(), warnings: [] } } };
  }
}

interface ToolRun {
  readonly outcome: Outcome;
  readonly warnings: readonly string[];
  readonly dryRun: boolean;
}

async function runTool(entry: ToolEntry, input: ExecInput, context: OperationContext): Promise<ToolRun> {
  checkAvailable(entry);
  const dryRun = input.dry_run ?? entry.lane === "destructive";
  const { principal } = context.view;
  if (!dryRun && entry.lane !== "read" && !principal.allowWrite) {
    throw problem("PERMISSION_DENIED", { name: entry.op, lane: entry.lane });
  }
  const { value: args, warnings } = await checkParams(entry, input.args, "VALIDATION_ERROR");
  if (dryRun) {
    const outcome = await runEntry(
      entry,
      context,
      (call) => entry.dryRun?.(args, call) ?? simulate(entry, args),
      { dry: true },
    );
    return { outcome, dryRun, warnings: [...warnings, dryRunWarning(entry, input)] };
  }

  const run = async (): Promise<ToolRun> => {
    if (entry.requiresConfirmation) await checkApproved(entry, args, input.args, context);
    return { outcome: await runEntry(entry, context, (call) => entry.call(args, call)), warnings, dryRun };
  };
  if (input.idempotency_key === undefined) return run();
  const key = JSON.stringify([principal.id, input.idempotency_key]);
  return context.idempotency.once(key, callHash(entry, input.args), run, isRefusal) as Promise<ToolRun>;
}

function isRefusal(error: unknown): boolean {
  return isProblem(error) && error.code === "APPROVAL_REQUIRED";
}

/** The effect of a tool that cannot say what it would do: the call itself, checked. */
async function simulate(entry: ToolEntry, args: Record<string, unknown>): Promise<unknown> {
  return { simulated: true, would_call: entry.op, args };
}

function dryRunWarning(entry: ToolEntry, input: ExecInput): string {
  const why = input.dry_run === undefined ? `${addressOf(entry)} is ${entry.lane}, so it ran dry. ` : "";
  return `${why}Nothing was changed. To apply it, call exec again with dry_run: false.`;
}
