import { z } from "zod";
import { formatMessage } from "../../base/problems/format-message.ts";
import { fitPieces } from "../../base/tokens/fit-pieces.ts";
import { countOf } from "../../base/util/count-of.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../access/view.ts";
import { type Entry, INSTRUCTIONS_PATH, knownStatus } from "../nouns/entry.ts";
import { type AnswerLimits, checkOutside, markOutside } from "./answer-parts.ts";
import { missingLines } from "./missing-servers.ts";
import type { FailedRead } from "./operation.ts";

const SUMMARY_CHARS = 100;
const CLOSING_TOKENS = 120;
/** Longer directories list bare names: complete and still readable. */
const MOST_SUMMARIES = 100;

export const directorySchema = z.object({
  kind: z.literal("directory"),
  path: z.string(),
  summary: z.string(),
  version: z.string(),
  usage: z.string(),
  /** The instructions of the domain's server, marked as untrusted. */
  instructions: z.string().optional(),
  /** Sub-groups with all names in them, so that one call is enough. */
  groups: z.array(
    z.object({
      path: z.string(),
      summary: z.string().optional(),
      count: z.number(),
      names: z.array(z.string()),
    }),
  ),
  ops: z.array(z.object({ op: z.string(), lane: z.string(), summary: z.string().optional() })),
  /** Handle to what does not fit. */
  rest: z.string().optional(),
});
export type Directory = z.output<typeof directorySchema>;

export const EMPTY_DIRECTORY: Directory = {
  ...{ kind: "directory", path: "", summary: "", version: "", usage: "" },
  groups: [],
  ops: [],
};

const USAGE = {
  sentences: [
    "Describe a path below by {help}.",
    "Find by need with {ask}.",
    "Read with {get}, run with {exec}: both take the addresses shown.",
  ],
};

/** Lists everything below a path of the op taxonomy. A last segment `read` or `write` filters by lane. */
export function describeDirectory(
  segments: readonly string[],
  view: View,
  failed: readonly FailedRead[],
): Directory | undefined {
  const last = segments.at(-1);
  const below = under(segments, view.shown);
  if (below.length > 0 || segments.length === 0) return toDirectory(segments, segments, below, view, failed);
  if (segments.length < 2 || (last !== "read" && last !== "write")) return undefined;
  const base = segments.slice(0, -1);
  const inLane = under(base, view.shown).filter((entry) => (entry.lane === "read") === (last === "read"));
  return inLane.length > 0 ? toDirectory(segments, base, inLane, view, failed) : undefined;
}

function toDirectory(
  path: readonly string[],
  base: readonly string[],
  entries: readonly Entry[],
  view: View,
  failed: readonly FailedRead[],
): Directory {
  const groupOf = (op: string) => op.split(".").slice(0, base.length + 1);
  const byGroup = Map.groupBy(entries, ({ op }) => groupOf(op).join("."));
  const groups: Directory["groups"] = [];
  const ops: Directory["ops"] = [];
  for (const [group, members] of [...byGroup].sort(([one], [other]) => (one < other ? -1 : 1))) {
    for (const entry of members.filter(({ op }) => op === group)) ops.push(toLine(entry, byGroup.size));
    const deeper = members.filter(({ op }) => op !== group);
    if (deeper.length === 0) continue;
    const description = base.length === 0 ? view.domains.get(group)?.description : undefined;
    // The root shows the groups of each domain; the domains list what is in them.
    const names = deeper.map(({ op }) =>
      base.length === 0 ? op.split(".")[1]! : op.slice(group.length + 1),
    );
    const summary = description && { summary: toSummary(description, SUMMARY_CHARS) };
    groups.push({ path: group, ...summary, count: deeper.length, names: [...new Set(names)] });
  }
  const about =
    base.length === 0 ? countOf(view.domains.size, "domain") : view.domains.get(path[0]!)?.description;
  const [missing] = missingLines(view, failed, base[0]);
  const summary = [about, missing].filter(Boolean).join(". ");
  const said = base.length === 1 ? instructionsOf(view, base[0]!)?.description : undefined;
  const instructions = said && { instructions: markOutside(said, checkOutside(said, base[0])) };
  return {
    ...{ ...EMPTY_DIRECTORY, path: path.join("."), summary, version: view.version },
    ...{ ...instructions, groups, ops },
  };
}

/** Approved instructions of a domain's server. */
export function instructionsOf(view: View, domain: string): Entry | undefined {
  const entry = view.find(`${domain}://${INSTRUCTIONS_PATH}`);
  return entry?.visibility === "hidden" && knownStatus(entry) === undefined ? entry : undefined;
}

function under(segments: readonly string[], entries: readonly Entry[]): Entry[] {
  if (segments.length === 0) return [...entries];
  const prefix = `${segments.join(".")}.`;
  return entries.filter((entry) => entry.op.startsWith(prefix));
}

function toLine({ op, description, lane }: Entry, siblings: number): Directory["ops"][number] {
  return { op, lane, ...(siblings <= MOST_SUMMARIES && { summary: toSummary(description, SUMMARY_CHARS) }) };
}

/** Puts a directory into a surface's words. A long one lists bare names; a handle holds what exceeds the budget. */
export function showDirectory(directory: Directory, room: AnswerLimits): Directory {
  const { countTokens, resultTokens } = room;
  const shown = { ...directory, usage: formatMessage(USAGE, room.words) };
  const text = directoryText(shown);
  if (text.length <= resultTokens || countTokens(text) <= resultTokens) return shown;
  const bare = { ...shown, ops: shown.ops.map(({ op, lane }) => ({ op, lane })) };
  if (countTokens(directoryText(bare)) <= resultTokens) return bare;
  const value = JSON.parse(JSON.stringify(shown));
  const handle = room.keep(value, directory.path || "root", { version: directory.version });
  const pieces = [
    ...bare.groups.map((group) => ({
      forms: [groupLine(group), groupLine({ ...group, names: [] }), ""],
      prices: [1, 3],
    })),
    ...bare.ops.map((op) => ({ forms: [opLine(op), ""], prices: [2] })),
  ];
  const head = directoryText({ ...bare, groups: [], ops: [] });
  const forms = fitPieces(pieces, resultTokens - CLOSING_TOKENS - countTokens(head), countTokens);
  const groups = bare.groups.flatMap((group, index) =>
    forms[index] === 0 ? [group] : forms[index] === 1 ? [{ ...group, names: [] }] : [],
  );
  const ops = bare.ops.filter((_, index) => forms[bare.groups.length + index] === 0);
  // Groups that lost their names count too, so that the handle covers them.
  const hidden = forms.filter((form) => form !== 0).length;
  return { ...bare, groups, ops, rest: `${hidden} more at ${handle}` };
}

export function directoryText({ path, summary, instructions, groups, ops, rest }: Directory): string {
  const heading = `# ${path || "root"}${summary && `: ${summary}`}`;
  return [
    heading,
    ...(instructions ? [`How its server says it is used:\n${instructions}`] : []),
    ...groups.map(groupLine),
    ...ops.map(opLine),
    ...(rest ? [`[${rest}]`] : []),
  ].join("\n");
}

function groupLine({ path, count, summary, names }: Directory["groups"][number]): string {
  return `- ${path} (${count})${summary ? `: ${summary}` : ""}${names.length > 0 ? ` [${names.join(", ")}]` : ""}`;
}

function opLine({ op, summary, lane }: Directory["ops"][number]): string {
  return `- ${op}${lane === "read" ? "" : ` [${lane}]`}${summary ? `: ${summary}` : ""}`;
}

/** All domains, largest first: the order does not depend on which server answered first. */
export function domainsBySize(view: View): string[] {
  const groups = entriesByDomain(view.shown);
  const size = (name: string) => groups.get(name)?.length ?? 0;
  return [...view.domains.keys()].sort((one, other) => size(other) - size(one) || (one < other ? -1 : 1));
}

/** The shown entries of each domain. */
export const entriesByDomain = memoizeByObject((shown: readonly Entry[]) =>
  Map.groupBy(shown, ({ domain }) => domain),
);

/** Lists as many names as fit, and counts the others. */
export function listNames(names: readonly string[], maxChars: number): string {
  const fitting: string[] = [];
  let room = maxChars - " and 9999 more".length;
  for (const name of names) {
    room -= name.length + 2;
    if (room < 0) break;
    fitting.push(name);
  }
  const omitted = names.length - fitting.length;
  return omitted === 0
    ? fitting.join(", ")
    : [fitting.join(", "), `${omitted} more`].filter(Boolean).join(" and ");
}
