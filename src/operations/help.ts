import { z } from "zod";
import { discover } from "../session/working-memory.ts";
import { addressOf } from "../util/address-of.ts";
import { describeDirectory, directorySchema, directoryText, showDirectory } from "./describe-directory.ts";
import { describeEntry, entryHelpSchema, entryHelpText, showEntryHelp } from "./describe-entry.ts";
import { notFound, ROOT } from "./error-answer.ts";
import { defineOperation, type OperationContext } from "./operation.ts";
import { resultTypeOf } from "./result-type-of.ts";
import type { Room } from "./room.ts";

export const helpInput = z.object({
  path: z.string().max(600).default("").describe('Domain, group, op or route; "" for the map'),
  format: z.enum(["short", "full"]).default("short"),
  include_examples: z.boolean().default(true),
  include_schemas: z.boolean().default(false),
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
  refuse: (): HelpOutput => ({
    kind: "directory",
    path: "",
    summary: "",
    version: "",
    usage: "",
    groups: [],
    ops: [],
  }),
  cause: "help",
  targets: ({ path }) => [path || ROOT],
});

export function helpText(output: HelpOutput): string {
  return output.kind === "directory" ? directoryText(output) : entryHelpText(output);
}

export function showHelp(described: Described, room: Room): HelpOutput {
  return described.kind === "directory" ? showDirectory(described, room) : showEntryHelp(described, room);
}

/** Describes a path. Answers are cached, because they depend only on the catalog and the input. */
export function describe(input: HelpInput, context: OperationContext): Described {
  const { path, format, include_examples, include_schemas } = input;
  const { view, session } = context;
  const key = JSON.stringify([view.version, view.scopeKey, path, format, include_examples, include_schemas]);
  const entry = view.find(path);
  const isAddress = entry && (entry.op === path || entry.route === path);
  const described = context.remember(key, (): Described => {
    // A domain or group wins over an entry that only shares its plain name.
    const directory = isAddress ? undefined : describeDirectory(toSegments(path), view);
    if (directory) return directory;
    if (!entry) throw notFound(path, context);
    return describeEntry(entry, input, view);
  });
  if (!entry || described.kind === "directory") return described;
  session?.update((memory) => discover(memory, [addressOf(entry)]));
  // Observations are newer than the cached description.
  const returns = resultTypeOf(entry, context, RESULT_CHARS);
  return returns === undefined ? described : { ...described, returns };
}

function toSegments(path: string): string[] {
  if (path === "" || path === ROOT) return [];
  return path
    .replace("://", ".")
    .split(/[./]/)
    .filter((segment) => segment !== "" && segment !== "tools");
}
