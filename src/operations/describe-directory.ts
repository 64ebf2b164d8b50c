import { z } from "zod";
import type { View } from "../access/view.ts";
import type { Entry } from "../schema/entry.ts";
import { toSummary } from "../util/to-summary.ts";

const SUMMARY_CHARS = 100;
/** A longer directory lists bare names: complete, and still readable. */
const MOST_SUMMARIES = 100;

export const directorySchema = z.object({
  kind: z.literal("directory"),
  path: z.string(),
  summary: z.string(),
  version: z.string(),
  usage: z.string(),
  /** Sub-groups, with everything in them by name, so that one call shows all there is. */
  groups: z.array(
    z.object({
      path: z.string(),
      summary: z.string().optional(),
      count: z.number(),
      names: z.array(z.string()),
    }),
  ),
  ops: z.array(z.object({ op: z.string(), lane: z.string(), summary: z.string().optional() })),
});
export type Directory = z.output<typeof directorySchema>;

/** What is below a path of the op taxonomy; `read` and `write` as the last segment choose by lane. */
export function describeDirectory(segments: readonly string[], view: View): Directory | undefined {
  const last = segments.at(-1);
  const below = under(segments, view.shown);
  if (below.length > 0) return toDirectory(segments, segments, below, view);
  if (segments.length < 2 || (last !== "read" && last !== "write")) {
    return segments.length === 0 ? toDirectory([], [], [], view) : undefined;
  }
  const base = segments.slice(0, -1);
  const inLane = under(base, view.shown).filter((entry) => (entry.lane === "read") === (last === "read"));
  return inLane.length > 0 ? toDirectory(segments, base, inLane, view) : undefined;
}

function toDirectory(
  path: readonly string[],
  base: readonly string[],
  entries: readonly Entry[],
  view: View,
): Directory {
  const byGroup = Map.groupBy(entries, (entry) =>
    entry.op
      .split(".")
      .slice(0, base.length + 1)
      .join("."),
  );
  const groups: Directory["groups"] = [];
  const ops: Directory["ops"] = [];
  for (const [group, members] of [...byGroup].sort(([one], [other]) => (one < other ? -1 : 1))) {
    for (const entry of members.filter(({ op }) => op === group)) ops.push(toLine(entry, byGroup.size));
    const deeper = members.filter(({ op }) => op !== group);
    if (deeper.length === 0) continue;
    const description = base.length === 0 ? view.domains.get(group)?.description : undefined;
    const names = base.length === 0 ? topNames(deeper) : deeper.map(({ op }) => op.slice(group.length + 1));
    const summary = description && { summary: toSummary(description, SUMMARY_CHARS) };
    groups.push({ path: group, ...summary, count: deeper.length, names });
  }
  return {
    kind: "directory",
    path: path.join("."),
    summary:
      base.length === 0 ? `${view.domains.size} domains` : (view.domains.get(path[0]!)?.description ?? ""),
    version: view.version,
    usage: "help with a path below; ask finds by need; get and exec take the addresses shown",
    groups,
    ops,
  };
}

/** At the root the names are those of each domain's groups: the domains themselves list the rest. */
function topNames(entries: readonly Entry[]): string[] {
  return [...new Set(entries.map(({ op }) => op.split(".")[1]!))].slice(0, 12);
}

function under(segments: readonly string[], entries: readonly Entry[]): Entry[] {
  if (segments.length === 0) return [...entries];
  const prefix = `${segments.join(".")}.`;
  return entries.filter((entry) => entry.op.startsWith(prefix));
}

function toLine({ op, description, lane }: Entry, siblings: number): Directory["ops"][number] {
  return { op, lane, ...(siblings <= MOST_SUMMARIES && { summary: toSummary(description, SUMMARY_CHARS) }) };
}

export function directoryText({ path, summary, groups, ops }: Directory): string {
  const groupLines = groups.map((group) => {
    const about = group.summary ? `: ${group.summary}` : "";
    return `- ${group.path} (${group.count})${about} [${group.names.join(", ")}]`;
  });
  const opLines = ops.map(({ op, summary: text, lane }) => {
    return `- ${op}${lane === "read" ? "" : ` [${lane}]`}${text ? `: ${text}` : ""}`;
  });
  return [`# ${path || "root"}: ${summary}`, ...groupLines, ...opLines].join("\n");
}
