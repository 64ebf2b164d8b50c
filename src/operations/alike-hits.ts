import type { Entry } from "../schema/entry.ts";
import { analyze } from "../search/analysis/analyze.ts";
import { addressOf } from "../util/address-of.ts";
import { oncePer } from "../util/once-per.ts";

const MOST_GROUPS = 2;
const MOST_SHOWN = 4;
const MOST_PARAMS = 4;

/** Puts tools that another domain has by the same name right behind a hit, though search found them less fitting. */
export function withAlike(hits: readonly Entry[], found: readonly Entry[], limit: number): Entry[] {
  const alike = Map.groupBy(found, keyOf);
  const together = new Set<Entry>();
  for (const hit of hits) {
    together.add(hit);
    const key = keyOf(hit);
    const others =
      key === undefined ? [] : (alike.get(key) ?? []).filter(({ domain }) => domain !== hit.domain);
    for (const other of others.slice(0, MOST_SHOWN - 1)) together.add(other);
  }
  return [...together].slice(0, limit);
}

/** Says of tools that several domains have by the same name how their params differ. */
export function alikeHits(hits: readonly Entry[]): string[] {
  return [...Map.groupBy(hits, keyOf)]
    .flatMap(([key, group]) => (key === undefined ? [] : [group]))
    .filter((group) => new Set(group.map(({ domain }) => domain)).size > 1)
    .slice(0, MOST_GROUPS)
    .map((group) => describe(group.slice(0, MOST_SHOWN)));
}

/** The same for `create_issue` and `issue.create`. Names of one word ("search") say too little to be alike. */
const keyOf = oncePer(({ kind, name }: Entry): string | undefined => {
  const words = kind === "tool" ? analyze(name).filter(({ joined }) => !joined) : [];
  if (words.length < 2) return undefined;
  return words
    .map(({ text }) => text)
    .sort()
    .join(" ");
});

function describe(group: readonly Entry[]): string {
  const params = group.map(({ inputSchema }) => Object.keys(propertiesOf(inputSchema)));
  const differences = group.flatMap((entry, at) => {
    const others = new Set(params.filter((_, place) => place !== at).flat());
    const own = params[at]!.filter((name) => !others.has(name)).slice(0, MOST_PARAMS);
    return own.length > 0 ? [`only ${entry.domain} takes ${own.join(", ")}`] : [];
  });
  const how = differences.length > 0 ? differences.join("; ") : "they take the same params";
  return `Alike: ${group.map(addressOf).join(", ")}; ${how}.`;
}

function propertiesOf(schema: unknown): object {
  const properties = (schema as { properties?: unknown } | undefined)?.properties;
  return typeof properties === "object" && properties !== null ? properties : {};
}
