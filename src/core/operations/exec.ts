import { z } from "zod";
import type { ToolNames } from "../../base/problems/format-message.ts";
import { fieldsOf, isPlainObject, textOf } from "../../base/util/plain-object.ts";
import { inJson, parseJsonText } from "../nouns/json-form.ts";
import {
  type AnswerLimits,
  argsSchema,
  dryRunField,
  guidanceSchema,
  guidanceText,
  outsideSchema,
  readArgs,
  sayWarnings,
  sessionText,
  warningsText,
} from "./answer-parts.ts";
import { type CallOutcome, callAddress, failureOf } from "./call-address.ts";
import { type ErrorAnswer, errorSchema, errorText, toErrorAnswer } from "./error-answer.ts";
import { defineOperation, type OperationContext, type PlannedCall } from "./operation.ts";
import { blocksSchema, resultText, showResult, storedSchema } from "./show-result.ts";

const MOST_ADDRESS = 2_000;

export const execInput = z
  .object({
    op: z.string().min(1).max(MOST_ADDRESS).optional().describe("Op or route of a tool"),
    route: z.string().min(1).max(MOST_ADDRESS).optional(),
    args: argsSchema.optional(),
    idempotencyKey: inJson("idempotency_key", z.string().min(1).max(256).optional()),
    dryRun: dryRunField(),
    session: z.string().optional(),
  })
  .refine(({ op, route }) => (op === undefined) !== (route === undefined), "give either op or route");
export type ExecInput = z.output<typeof execInput>;

const metaSchema = z.object({
  traceId: inJson("trace_id", z.string()),
  latencyMs: inJson("latency_ms", z.number()),
  warnings: z.array(z.string()),
  dryRun: inJson("dry_run", z.boolean().optional()),
  stored: storedSchema.optional(),
  outside: outsideSchema.optional(),
});

export const execOutput = z.union([
  z.object({
    op: z.string(),
    ok: z.literal(true),
    result: z.unknown(),
    blocks: blocksSchema.optional(),
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

/** An executed request before it is shown. */
export interface ExecOutcome {
  readonly op: string;
  readonly outcome: CallOutcome;
  readonly traceId: string;
  readonly latencyMs: number;
}

export const exec = defineOperation({
  name: "exec",
  title: "Run a tool",
  purpose: "Runs one tool, also those that write. A person is asked before a destructive tool runs.",
  introduction: "runs it",
  names: { lanes: "exec", commands: "tool_exec" },
  readOnly: false,
  input: execInput,
  output: execOutput,
  command: {
    name: "call",
    usage: "TOOL [name=value…]",
    takesValues: true,
    toInput: ([op, ...more], args) => ({ op: [op, ...more].join(" "), args }),
  },
  aliases: {
    tool: "op",
    name: "op",
    tool_name: "op",
    toolName: "op",
    function: "op",
    path: "op",
    arguments: "args",
    params: "args",
    parameters: "args",
    input: "args",
  },
  repair: repairExec,
  beside: "args",
  calls: (input) => [plannedExec(input)],
  run: execute,
  question: ({ outcome }) => (outcome.is === "asks" ? outcome.asks : undefined),
  show: (executed, room) => ({
    ...showExecuted(executed, room),
    ...(room.session && { session: room.session }),
  }),
  toText: execText,
  errors: (output) => [output.ok ? undefined : output.error],
  refuse: refuseExec,
  cause: "results",
  targets: ({ op, route }) => [op ?? route ?? ""],
});

/** Models send the whole call as text, or once more inside its own args. */
function repairExec(sent: unknown): unknown {
  const input = typeof sent === "string" ? parseJsonText(sent) : sent;
  if (!isPlainObject(input)) return input;
  const inner = readArgs(input.args);
  if (!isPlainObject(inner) || !isPlainObject(readArgs(inner.args)) || Object.keys(inner).length !== 2)
    return input;
  const address = inner.op ?? inner.route ?? inner.tool;
  const isSame = address !== undefined && (input.op ?? input.route ?? input.tool ?? address) === address;
  return isSame ? { ...input, ...inner } : input;
}

/** Runs one request and times it. */
export async function execute(input: ExecInput, context: OperationContext): Promise<ExecOutcome> {
  const started = performance.now();
  const { address, ...wanted } = plannedExec(input);
  const outcome = await callAddress(address, { ...wanted, idempotencyKey: input.idempotencyKey }, context);
  return {
    op: outcome.entry?.op ?? address,
    outcome,
    traceId: context.request.traceId,
    latencyMs: Math.round(performance.now() - started),
  };
}

export function plannedExec({ op, route, args, dryRun }: ExecInput): PlannedCall {
  return { address: op ?? route ?? "", args, dryRun };
}

/** The envelope of an executed request. */
export function showExecuted(
  { op, outcome, traceId, latencyMs }: ExecOutcome,
  room: AnswerLimits,
): ExecOutput {
  const meta = { traceId, latencyMs };
  if (outcome.is !== "done") {
    const error = toErrorAnswer(failureOf(outcome), room);
    return { op, ok: false, error, meta: { ...meta, warnings: [] } };
  }
  const { reading, source, entry, guidance, dryRun } = outcome;
  const from = { reading, source, origin: entry };
  const { content, stored, outside, blocks } = showResult(outcome.value, op, room, from);
  return {
    op,
    ok: true,
    result: content,
    ...(blocks && { blocks }),
    ...(guidance.length > 0 && { guidance: [...guidance] }),
    meta: {
      ...meta,
      warnings: sayWarnings(outcome.warnings, room.words),
      ...(dryRun && { dryRun: true }),
      ...(stored && { stored }),
      ...(outside && { outside }),
    },
  };
}

/** Writes an answer for a model. The op is left out if the model called the tool by its own name. */
export function execText(output: ExecOutput, words: ToolNames): string {
  const { meta } = output;
  const session = sessionText(output.session);
  if (!output.ok) {
    // Only a failure of the gateway itself is worth a look into its logs.
    const trace = output.error.code === "INTERNAL" ? `\ntrace: ${meta.traceId}` : "";
    return `${errorText(output.error)}${trace}${session}`;
  }
  const heading = words.exec === undefined ? "" : `${output.op}: `;
  const { stored, outside, dryRun } = meta;
  const content = resultText({ content: output.result, stored, outside, dryRun });
  const rest = `${warningsText(meta.warnings)}${guidanceText(output.guidance ?? [])}`;
  return `${heading}${content}${rest}${session}`;
}

/** Answers an unreadable request in the same envelope. */
function refuseExec(error: ErrorAnswer, input: unknown, traceId: string): ExecOutput {
  const { op, route } = fieldsOf(input);
  const meta = { traceId, latencyMs: 0, warnings: [] };
  return { op: textOf(op) ?? textOf(route) ?? "", ok: false, error, meta };
}
