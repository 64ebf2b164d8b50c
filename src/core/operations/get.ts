import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { mapLimit } from "../../base/util/map-limit.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { inJson, readFields } from "../nouns/json-form.ts";
import {
  type AnswerLimits,
  argsSchema,
  dryRunField,
  guidanceSchema,
  guidanceText,
  NO_RESULTS,
  outsideSchema,
  resultsSchema,
  sayWarnings,
  sessionText,
  showParts,
  toResults,
  warningsText,
} from "./answer-parts.ts";
import { type CallOutcome, callAddress, failureOf } from "./call-address.ts";
import { errorSchema, errorText, toErrorAnswer } from "./error-answer.ts";
import { defineOperation } from "./operation.ts";
import { blocksSchema, resultText, showResult, storedSchema } from "./show-result.ts";

const REQUEST_ALIASES = { op: "route", path: "route", uri: "route", args: "params", arguments: "params" };

const plainRequest = z.object({
  route: z.string().min(1).max(2_000).describe("Route, op, result:// or session:// handle"),
  params: argsSchema.optional(),
});
const requestSchema = z.preprocess(toRequest, plainRequest);

const resultSchema = z.union([
  z.object({
    route: z.string(),
    ok: inJson("success", z.literal(true)),
    data: z.object({
      content: z.unknown(),
      guidance: z.array(guidanceSchema),
      stored: storedSchema.optional(),
      outside: outsideSchema.optional(),
      blocks: blocksSchema.optional(),
      warnings: z.array(z.string()).optional(),
      dryRun: inJson("dry_run", z.boolean().optional()),
    }),
  }),
  z.object({ route: z.string(), ok: inJson("success", z.literal(false)), error: errorSchema }),
]);
type GetResult = z.input<typeof resultSchema>;

export const get = defineOperation({
  name: "get",
  title: "Read or load",
  purpose:
    "Runs reading tools and loads documents, skills and prompts by address, several at once. Answers may unveil next routes. Reads stored results by their handle, with params path, grep, select, sort, group or count.",
  introduction: "reads and loads",
  names: { lanes: "get", routes: "get" },
  readOnly: true,
  input: z.object({
    routes: z.preprocess(toList, z.array(requestSchema).min(1)),
    dryRun: dryRunField(),
    session: z.string().optional(),
  }),
  output: resultsSchema(resultSchema),
  command: {
    usage: "ADDRESS… [name=value…]",
    takesValues: true,
    toInput: (words, params) => ({ routes: words.map((route) => ({ route, params })) }),
  },
  aliases: { route: "routes", path: "routes", op: "routes" },
  repair: repairGet,
  // Listed only on a surface whose get runs writing tools.
  unlisted: ["dryRun"],
  calls: ({ routes, dryRun }) =>
    routes.map(({ route, params }) => ({ address: route, args: params, dryRun })),
  run: async ({ routes, dryRun }, context) => {
    const limit = context.limits.batchSize;
    if (routes.length > limit) {
      throw problem("LIMIT_EXCEEDED", { what: "The number of routes", actual: routes.length, limit });
    }
    return mapLimit(routes, context.limits.concurrency, ({ route, params }) =>
      callAddress(route, { args: params, dryRun }, context),
    );
  },
  question: ([only]) => (only?.is === "asks" ? only.asks : undefined),
  show: (outcomes, room) => {
    const results = showParts(outcomes, room, toResult, routeText);
    return toResults(results, ({ ok }) => !ok, room);
  },
  toText: ({ results, session }) => `${results.map(routeText).join("\n\n")}${sessionText(session)}`,
  errors: ({ results }) => results.map((result) => (result.ok ? undefined : result.error)),
  refuse: () => NO_RESULTS,
  cause: "results",
  asides: ({ results }, { view }) =>
    results
      .filter(({ route }) => view.find(route)?.kind === "skill")
      .map((result) => ({ cause: "skills", text: routeText(result) })),
  targets: ({ routes }) => routes.map(({ route }) => route),
});

function toResult(outcome: CallOutcome, room: AnswerLimits): GetResult {
  const { address, entry } = outcome;
  if (outcome.is !== "done")
    return { route: address, ok: false, error: toErrorAnswer(failureOf(outcome), room) };
  const requested = Math.min(outcome.showUpTo ?? 0, room.tokensLeft);
  const isRead = requested > 0 || entry?.kind === "skill" || entry?.kind === "prompt";
  const resultTokens = Math.max(room.resultTokens, requested);
  const wide = { ...room, resultTokens, ...(isRead && { lookTokens: resultTokens }) };
  const name = entry ? addressOf(entry) : address;
  const { reading, source } = outcome;
  const { content, ...shown } = showResult(outcome.value, name, wide, { reading, source, origin: entry });
  const warnings = sayWarnings(outcome.warnings, room.words);
  return {
    route: entry?.route ?? address,
    ok: true,
    data: {
      content,
      guidance: [...outcome.guidance],
      ...shown,
      ...(warnings.length > 0 && { warnings }),
      ...(outcome.dryRun && { dryRun: true }),
    },
  };
}

function routeText(result: GetResult): string {
  if (!result.ok) return `# ${result.route}\n${errorText(result.error)}`;
  const { guidance, warnings } = result.data;
  return `# ${result.route}\n${resultText(result.data)}${warningsText(warnings)}${guidanceText(guidance)}`;
}

/** Models send a bare route, field names of other tools, or params next to the route. */
function toRequest(sent: unknown): unknown {
  if (typeof sent === "string") return { route: sent };
  if (!isPlainObject(sent)) return sent;
  const { fields, unknown } = readFields(sent, plainRequest.shape, REQUEST_ALIASES);
  const beside = unknown.filter((name) => sent[name] !== null).map((name) => [name, sent[name]]);
  return fields.params === undefined && beside.length > 0
    ? { ...fields, params: Object.fromEntries(beside) }
    : fields;
}

/** Models send one request without the list, with params next to its address. */
function repairGet(raw: unknown): unknown {
  if (!isPlainObject(raw) || raw.routes !== undefined) return raw;
  const { session, dry_run, dryRun = dry_run, ...request } = raw;
  return typeof (request.op ?? request.route) === "string" ? { routes: [request], session, dryRun } : raw;
}

/** Models send one route instead of a list. */
function toList(value: unknown): unknown {
  return typeof value === "string" || isPlainObject(value) ? [value] : value;
}
