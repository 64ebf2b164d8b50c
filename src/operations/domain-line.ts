import type { View } from "../access/view.ts";
import { type Entry, knownStatus } from "../schema/entry.ts";
import { oncePer } from "../util/once-per.ts";
import { splitWords } from "../util/split-words.ts";
import { toSummary } from "../util/to-summary.ts";

/** More names fit into no line. */
const MOST_NAMED = 500;

const byDomain = oncePer((shown: readonly Entry[]) => Map.groupBy(shown, ({ domain }) => domain));

/** One line about a domain: its description; without one, the names of its tools, or what its only tool does. */
export function domainLine(name: string, view: View, maxChars: number): string {
  const description = view.domains.get(name)?.description ?? "";
  if (description !== "") return toSummary(description, maxChars);
  const usable = (entriesByDomain(view).get(name) ?? []).filter((entry) => knownStatus(entry) === undefined);
  const [only] = usable;
  if (only && usable.length === 1) return toSummary(only.description, maxChars);
  const [tools, others] = [usable.filter(isTool), usable.filter((entry) => !isTool(entry))];
  const ordered = [...tools, ...others];
  const names = ordered.slice(0, MOST_NAMED).map((entry) => splitWords(entry.name).join(" "));
  return listNames([...new Set(names)], maxChars, Math.max(0, ordered.length - MOST_NAMED));
}

/** The names of all domains, the largest first: the order does not depend on which server was the first to answer. */
export function domainsBySize(view: View): string[] {
  const groups = entriesByDomain(view);
  const size = (name: string) => groups.get(name)?.length ?? 0;
  return [...view.domains.keys()].sort((one, other) => size(other) - size(one) || (one < other ? -1 : 1));
}

/** The listed entries of each domain. */
export function entriesByDomain({ shown }: Pick<View, "shown">): ReadonlyMap<string, readonly Entry[]> {
  return byDomain(shown);
}

/** As many names as fit, and how many more there are. */
export function listNames(names: readonly string[], maxChars: number, further = 0): string {
  const kept: string[] = [];
  let room = maxChars - " and 9999 more".length;
  for (const name of names) {
    room -= name.length + 2;
    if (room < 0) break;
    kept.push(name);
  }
  const left = names.length - kept.length + further;
  return left === 0 ? kept.join(", ") : [kept.join(", "), `${left} more`].filter(Boolean).join(" and ");
}

function isTool({ kind }: Entry): boolean {
  return kind === "tool";
}
