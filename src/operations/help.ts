import { z } from "zod";
import { discover } from "../session/working-memory.ts";
import { notFound } from "./answer-parts.ts";
import { describeDirectory, directorySchema, directoryText } from "./describe-directory.ts";
import { describeEntry, entryHelpSchema, entryHelpText } from "./describe-entry.ts";
import { addressOf, defineOperation, type OperationContext } from "./operation.ts";

const ROOT = "root";

export const helpInput = z.strictObject({
  path: z.string().max(600).default("").describe('Domain, group, op or route; "" for the map'),
  format: z.enum(["short", "full"]).default("short"),
  include_examples: z.boolean().default(true),
  include_schemas: z.boolean().default(false),
  session: z.string().optional(),
});
export type HelpInput = z.output<typeof helpInput>;

export const helpOutput = z.union([directorySchema, entryHelpSchema]);
export type HelpOutput = z.input<typeof helpOutput>;

export const help = defineOperation({
  name: "help",
  title: "Describe",
  purpose:
    "Describes a domain, a group or one tool: args, examples, policy. Use it when a signature is not enough.",
  readOnly: true,
  input: helpInput,
  output: helpOutput,
  run: async (input, context) => describe(input, context),
  toText: helpText,
  cause: "help",
  targets: ({ path }) => [path || ROOT],
  outcome: () => "ok",
});

export function helpText(output: HelpOutput): string {
  return output.kind === "directory" ? directoryText(output) : entryHelpText(output);
}

/** The same question about the same catalog has the same answer, so it is made once. */
export function describe(input: HelpInput, context: OperationContext): HelpOutput {
  const { path, format, include_examples, include_schemas } = input;
  const { version, principal, find } = context.view;
  const key = JSON.stringify([
    version,
    principal.scopes.toSorted(),
    path,
    format,
    include_examples,
    include_schemas,
  ]);
  const entry = find(path);
  const isAddress = entry && (entry.op === path || entry.route === path);
  const output = context.remember(key, (): HelpOutput => {
    // A domain or group goes before an entry that has only its plain name in common with it.
    const directory = isAddress ? undefined : describeDirectory(toSegments(path), context.view);
    return directory ?? (entry ? describeEntry(entry, input, context.view) : missing(path, context));
  });
  if (entry && output.kind !== "directory")
    context.session?.update((memory) => discover(memory, [addressOf(entry)]));
  return output;
}

function missing(path: string, context: OperationContext): never {
  throw notFound(path, context);
}

function toSegments(path: string): string[] {
  if (path === "" || path === ROOT) return [];
  return path
    .replace("://", ".")
    .split(/[./]/)
    .filter((segment) => segment !== "" && segment !== "tools");
}
