import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type Arg, fitArgs, toArgs } from "../../base/json-schema/args.ts";
import { toExampleArgs } from "../../base/json-schema/example-args.ts";
import { toResultType, toSignature } from "../../base/json-schema/signature.ts";
import type { MessageTemplate } from "../../base/problems/format-message.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { KINDS } from "../../search/port/search-index.ts";
import { type CallPolicy, whyAsk } from "../calls/decide-call.ts";
import { type Entry, LANES, type Policy } from "../nouns/entry.ts";
import { inJson } from "../nouns/json-form.ts";
import { discover } from "../sessions/working-memory.ts";
import { type AnswerLimits, sayWarnings } from "./answer-parts.ts";
import {
  describeDirectory,
  directorySchema,
  directoryText,
  EMPTY_DIRECTORY,
  showDirectory,
} from "./describe-directory.ts";
import { notFound, ROOT } from "./error-answer.ts";
import { defineOperation, type OperationContext } from "./operation.ts";

/** Longer descriptions are cut. */
const DESCRIPTION_CHARS = 2_048;
const USAGE_CHARS = 400;
const SHORT_POLICY = 3;

const words = z.array(z.string()).readonly();

const entryHelpSchema = z.object({
  kind: z.enum(KINDS),
  path: z.string(),
  route: z.string(),
  summary: z.string(),
  usage: z.string(),
  lane: z.enum(LANES),
  /** The type of the result, declared or observed. */
  returns: z.string().optional(),
  args: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      required: z.boolean(),
      default: z.unknown().optional(),
      description: z.string().optional(),
    }),
  ),
  notes: z.array(z.string()),
  examples: z
    .array(z.object({ args: z.record(z.string(), z.unknown()), note: z.string().optional() }))
    .optional(),
  policy: z
    .object({
      do: words.optional(),
      dont: words.optional(),
      edgeCases: inJson("edge_cases", words.optional()),
    })
    .optional(),
  description: z.string().optional(),
  related: z.array(z.string()).optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  /** The script of a recipe. */
  code: z.string().optional(),
  unavailable: z.string().optional(),
  version: z.string(),
});
type EntryHelp = z.output<typeof entryHelpSchema>;

/** Help of an entry before it is put into the words of a surface. */
type EntryDescription = Omit<EntryHelp, "notes"> & {
  readonly notes: readonly (string | MessageTemplate)[];
};

/** Everything needed to call one entry correctly. */
function describeEntry(
  entry: Entry,
  wanted: HelpInput,
  { view, policy: calls }: OperationContext,
): EntryDescription {
  const { kind, op, route, lane, inputSchema, status } = entry;
  const policy = entry.kind === "tool" && entry.policy ? policyIn(wanted.format, entry.policy) : undefined;
  const related = entry.related.filter((route) => (view.find(route)?.visibility ?? "hidden") !== "hidden");
  return {
    kind,
    path: op,
    route,
    summary: toSummary(entry.description),
    usage: `${op}${toSignature(inputSchema, { maxChars: USAGE_CHARS })}`,
    lane,
    args: toArgs(inputSchema),
    notes: notesOf(entry, calls),
    ...(wanted.includeExamples && { examples: examplesOf(entry) }),
    ...(policy && { policy }),
    ...(wanted.format === "full" && {
      description: cutText(entry.description, DESCRIPTION_CHARS),
      related,
    }),
    ...(wanted.includeSchemas && { schema: { ...inputSchema } }),
    ...(entry.kind === "tool" && entry.code !== undefined && { code: entry.code }),
    ...(status && { unavailable: `${status.state}: ${status.reason}` }),
    version: view.version,
  };
}

/** The short format keeps the most important lines of each part. */
function policyIn(format: HelpInput["format"], policy: Policy): Policy {
  if (format === "full") return policy;
  const parts = Object.entries(policy).map(([part, lines]) => [part, lines?.slice(0, SHORT_POLICY)]);
  return Object.fromEntries(parts) as Policy;
}

function notesOf(entry: Entry, policy: CallPolicy): (string | MessageTemplate)[] {
  const notes: (string | MessageTemplate)[] = [...entry.notes];
  if (entry.lane !== "read")
    notes.push({ sentences: ["Runs by {exec} only.", "The caller must be allowed to write."] });
  if (whyAsk(entry, policy)) notes.push("A person must approve the exact call.");
  return notes;
}

function examplesOf({ examples, inputSchema }: Entry): { args: Record<string, unknown>; note?: string }[] {
  if (examples.length === 0) return [{ args: toExampleArgs(inputSchema), note: "made from the schema" }];
  return examples.map((example) => ({ ...example, args: { ...example.args } }));
}

function entryHelpText(help: EntryHelp): string {
  const list = (title: string, items: readonly string[] | undefined) =>
    items && items.length > 0 ? [`${title}:`, ...items.map((item) => `- ${item}`)] : [];
  const args = help.args.map(({ name, type, required, default: preset, description }) => {
    const fallback = preset === undefined ? "" : ` = ${JSON.stringify(preset)}`;
    return `${name}${required ? "" : "?"}: ${type}${fallback}${description ? ` (${description})` : ""}`;
  });
  return [
    `# ${help.usage}${help.lane === "read" ? "" : ` [${help.lane}]`}`,
    ...(help.unavailable ? [`Unavailable, ${help.unavailable}`] : []),
    help.description ?? help.summary,
    ...(help.returns ? [`Returns ${help.returns}`] : []),
    ...list("Args", args),
    ...list("Do", help.policy?.do),
    ...list("Do not", help.policy?.dont),
    ...list("Edge cases", help.policy?.edgeCases),
    ...list("Notes", help.notes),
    ...list(
      "Examples",
      help.examples?.map(({ args: given, note }) => `${JSON.stringify(given)}${note ? ` (${note})` : ""}`),
    ),
    ...list("Related", help.related),
    ...(help.schema ? [`Schema: ${JSON.stringify(help.schema)}`] : []),
    ...(help.code === undefined ? [] : [`Code:\n${help.code}`]),
  ].join("\n");
}

/**
 * Puts the help of an entry into the words of a surface, within its budget. What does not fit is stored under a handle.
 */
function showEntryHelp(described: EntryDescription, room: AnswerLimits): EntryHelp {
  const { countTokens, helpTokens } = room;
  const notes = sayWarnings(described.notes, room.words).filter((note) => note !== "");
  const whole = { ...described, notes };
  const fits = (help: EntryHelp) => {
    const text = entryHelpText(help);
    return text.length <= helpTokens || countTokens(text) <= helpTokens;
  };
  if (fits(whole)) return whole;
  const value = JSON.parse(JSON.stringify(whole));
  const needed = [described.route, ...(described.related ?? [])].map((route) => ({ route }));
  const handle = room.keep(value, described.path, needed);
  const { schema: _, code: __, ...withoutSchema } = whole;
  for (let share = helpTokens; share > 8; share = Math.floor(share / 2)) {
    const { args, omitted } = fitArgs(whole.args as readonly Arg[], { maxTokens: share, countTokens });
    const rest = `${omitted > 0 ? `${omitted} more args` : "The rest"} at ${handle}.`;
    const examples = whole.examples && { examples: exampleOf(whole.examples, args) };
    const shortened = { ...withoutSchema, args: [...args], notes: [...notes, rest], ...examples };
    if (fits(shortened)) return shortened;
  }
  const all = [`All of it is at ${handle}.`];
  return { ...withoutSchema, args: [], usage: described.path, notes: all, examples: [] };
}

/** The first example, with only the shown args. */
function exampleOf(examples: NonNullable<EntryHelp["examples"]>, args: readonly Arg[]) {
  const shown = new Set(args.map(({ name }) => name));
  return examples.slice(0, 1).map(({ args: all, ...example }) => ({
    ...example,
    args: Object.fromEntries(Object.entries(all).filter(([name]) => shown.has(name))),
  }));
}

export const helpInput = z.object({
  path: z.string().max(600).default("").describe('Domain, group, op or route; "" for the map'),
  format: z.enum(["short", "full"]).default("short"),
  includeExamples: inJson("include_examples", z.boolean().default(true)),
  includeSchemas: inJson("include_schemas", z.boolean().default(false)),
  session: z.string().optional(),
});
export type HelpInput = z.output<typeof helpInput>;

const RESULT_CHARS = 600;

export const helpOutput = z.union([directorySchema, entryHelpSchema]);
export type HelpOutput = z.input<typeof helpOutput>;

/** A description before it is shown. */
export type Described = ReturnType<typeof describeEntry> | NonNullable<ReturnType<typeof describeDirectory>>;

export const help = defineOperation({
  name: "help",
  title: "Describe",
  purpose:
    "Describes a domain, a group or one tool: args, examples, policy. Use it when a signature is not enough.",
  introduction: "describes it",
  names: { lanes: "help", commands: "tool_help" },
  readOnly: true,
  input: helpInput,
  output: helpOutput,
  command: { usage: "[PATH]", toInput: (words) => ({ path: words.join(" ") }) },
  aliases: { op: "path", route: "path", name: "path", tool: "path" },
  calls: () => [],
  run: async (input, context) => describe(input, context),
  show: showHelp,
  toText: helpText,
  errors: () => [],
  refuse: (): HelpOutput => EMPTY_DIRECTORY,
  cause: "help",
  targets: ({ path }) => [path || ROOT],
});

export function helpText(output: HelpOutput): string {
  return output.kind === "directory" ? directoryText(output) : entryHelpText(output);
}

export function showHelp(described: Described, room: AnswerLimits): HelpOutput {
  return described.kind === "directory" ? showDirectory(described, room) : showEntryHelp(described, room);
}

/** Descriptions by input. They depend on it, on the shown entries and on the calls that need approval. */
const descriptionsOf = memoizeByObject(
  (_shown: readonly Entry[]) => new LRUCache<string, Described>({ max: 1_000 }),
);

export function describe(input: HelpInput, context: OperationContext): Described {
  const { format, includeExamples, includeSchemas } = input;
  const { view, session, policy } = context;
  const path = view.toNamed(input.path);
  const descriptions = descriptionsOf(view.shown);
  const key = JSON.stringify([path, format, includeExamples, includeSchemas, policy]);
  const entry = view.find(path);
  const described = descriptions.get(key) ?? describePath({ ...input, path }, entry, context);
  descriptions.set(key, described);
  if (!entry || described.kind === "directory") return described;
  session?.update((memory) => discover(memory, [addressOf(entry)]));
  // Observations are newer than the cached description.
  const returns = resultTypeOf(entry, context, RESULT_CHARS);
  return returns === undefined ? described : { ...described, returns };
}

function describePath(input: HelpInput, entry: Entry | undefined, context: OperationContext): Described {
  const { path } = input;
  const isAddress = entry && (entry.op === path || entry.route === path);
  // A domain or group wins over an entry with the same plain name.
  const directory = isAddress
    ? undefined
    : describeDirectory(toSegments(path), context.view, context.failedSources());
  if (directory) return directory;
  if (!entry) throw notFound(path, context);
  return describeEntry(entry, input, context);
}

function toSegments(path: string): string[] {
  if (path === "" || path === ROOT) return [];
  return path
    .replace("://", ".")
    .split(/[./]/)
    .filter((segment) => segment !== "" && segment !== "tools");
}

/** The result type of an entry: declared, or observed and marked so, or unknown. */
export function resultTypeOf(
  entry: Entry,
  { view, services }: Pick<OperationContext, "view" | "services">,
  maxChars: number,
): string | undefined {
  const declared = entry.presentation?.outputSchema;
  if (declared) return toResultType(declared, maxChars);
  const observed = services.shapes.of(view, entry);
  return observed && `${toResultType(observed, maxChars)} (observed)`;
}
