import { z } from "zod";
import type { Entry } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import { RESULT_SCHEME } from "../session/result-store.ts";
import { isSessionAddress } from "../session/session-store.ts";
import { mapLimit } from "../util/map-limit.ts";
import {
  type ErrorAnswer,
  errorSchema,
  errorText,
  guidanceSchema,
  guidanceText,
  helpPathOf,
  notFound,
  toErrorAnswer,
} from "./answer-parts.ts";
import { argsSchema } from "./args-schema.ts";
import { findAddressed } from "./find-addressed.ts";
import { addressOf, defineOperation, type OperationContext, sessionField } from "./operation.ts";
import {
  asKnownProblem,
  checkApproved,
  checkAvailable,
  checkParams,
  type Outcome,
  runEntry,
} from "./run-entry.ts";
import { type Shown, showResult, storedSchema, toContentText } from "./show-result.ts";
import { showSession } from "./show-session.ts";

const requestSchema = z.strictObject({
  route: z.string().min(1).max(2_000).describe("Route, op, result:// or session:// handle"),
  params: argsSchema.optional(),
});

const resultSchema = z.union([
  z.object({
    route: z.string(),
    success: z.literal(true),
    data: z.object({
      content: z.unknown(),
      guidance: z.array(guidanceSchema),
      stored: storedSchema.optional(),
      warnings: z.array(z.string()).optional(),
    }),
  }),
  z.object({ route: z.string(), success: z.literal(false), error: errorSchema }),
]);
type GetResult = z.input<typeof resultSchema>;

export const get = defineOperation({
  name: "get",
  title: "Read or load",
  purpose:
    "Runs reading tools and loads documents, skills and prompts by address, several at once. Answers may unveil next routes. Reads stored results by their handle.",
  readOnly: true,
  input: z.strictObject({
    routes: z.array(requestSchema).min(1),
    session: z.string().optional(),
  }),
  output: z.object({
    results: z.array(resultSchema),
    summary: z.object({ total: z.number(), success: z.number(), failed: z.number() }),
    session: z.string().optional(),
  }),
  run: async ({ routes }, context) => {
    const limit = context.limits.batchSize;
    if (routes.length > limit) {
      throw problem("LIMIT_EXCEEDED", { what: "The number of routes", actual: routes.length, limit });
    }
    const results = await mapLimit(routes, context.limits.concurrency, (request) => getOne(request, context));
    const success = results.filter((result) => result.success).length;
    return {
      results,
      summary: { total: results.length, success, failed: results.length - success },
      ...sessionField(context),
    };
  },
  toText: ({ results, session }) =>
    [...results.map(resultText), ...(session ? [`session: ${session}`] : [])].join("\n\n"),
  cause: "results",
  asides: ({ results }, { view }) =>
    results
      .filter(({ route }) => view.find(route)?.kind === "skill")
      .map((result) => ({ cause: "skills", text: resultText(result) })),
  targets: ({ routes }) => routes.map(({ route }) => route),
  outcome: ({ results }) => results.map(codeOf).find((code) => code !== "ok") ?? "ok",
});

async function getOne(
  request: z.output<typeof requestSchema>,
  context: OperationContext,
): Promise<GetResult> {
  const { route } = request;
  const addressed = findAddressed(route, context.view.find);
  const entry = addressed?.entry;
  const params = addressed?.params ? { ...addressed.params, ...request.params } : request.params;
  try {
    if (route.startsWith(RESULT_SCHEME)) {
      const shown = await readStored(route, params ?? {}, context);
      return { route, success: true, data: { ...toData(shown), guidance: [] } };
    }
    if (isSessionAddress(route)) {
      return {
        route,
        success: true,
        data: { content: showSession(route, params ?? {}, context), guidance: [] },
      };
    }
    if (!entry) throw notFound(route, context);
    checkAvailable(entry);
    checkMayRun(entry, context);
    const checked = await checkParams(entry, params, "INVALID_PARAMS");
    // Without exec there is no dry run to see first, so what destroys waits for a person.
    if (entry.kind === "tool" && (entry.requiresConfirmation || entry.lane === "destructive"))
      await checkApproved(entry, checked.value, params, context);
    const outcome = await runEntry(entry, context, (call) =>
      entry.kind === "tool" ? entry.call(checked.value, call) : entry.load(checked.value, call),
    );
    return { route: entry.route, success: true, data: toData(outcome, checked.warnings) };
  } catch (error) {
    const error_ = toErrorAnswer(asKnownProblem(error, route), helpPathOf(entry?.op ?? route, context));
    return { route, success: false, error: error_ };
  }
}

function checkMayRun(entry: Entry, { getMayWrite, view }: OperationContext): void {
  if (entry.lane === "read") return;
  const code = getMayWrite ? "PERMISSION_DENIED" : "ACCESS_DENIED";
  if (!getMayWrite || !view.principal.allowWrite)
    throw problem(code, { name: addressOf(entry), lane: entry.lane });
}

async function readStored(
  handle: string,
  params: Record<string, unknown>,
  context: OperationContext,
): Promise<Shown> {
  // Its parsers of paths and patterns are large, and a start does not need them.
  const { readResult, readResultSchema } = await import("../session/read-result.ts");
  const how = readResultSchema.safeParse(params);
  if (!how.success) {
    const reason = how.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`).join("; ");
    throw problem("INVALID_INPUT", { operation: "get", reason });
  }
  return showResult(readResult(context.results.get(handle, context.view.principal.id), how.data), context);
}

function toData(
  shown: Shown & Partial<Pick<Outcome, "guidance" | "warnings">>,
  more: readonly string[] = [],
) {
  const warnings = [...more, ...(shown.warnings ?? [])];
  return {
    content: shown.content,
    guidance: shown.guidance ?? [],
    ...(shown.stored && { stored: shown.stored }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function resultText(result: GetResult): string {
  if (!result.success) return `# ${result.route}\n${errorText(result.error)}`;
  const { content, guidance, stored, warnings } = result.data;
  const rest = stored
    ? `\n[${stored.shown === undefined ? "beginning" : `${stored.shown} of ${stored.items} items`}; all ${stored.chars} characters at ${stored.handle}: ${stored.read}]`
    : "";
  const notes = warnings?.map((warning) => `\n[${warning}]`).join("") ?? "";
  return `# ${result.route}\n${toContentText(content as never)}${rest}${notes}${guidanceText(guidance)}`;
}

function codeOf(result: GetResult): string {
  return result.success ? "ok" : (result.error as ErrorAnswer).code;
}
