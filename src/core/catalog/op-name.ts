import { splitWords } from "../../base/util/split-words.ts";
import { effectOfVerb } from "../../search/analysis/tool-verbs.ts";
import { LANES, type Lane, type RiskLevel } from "../nouns/entry.ts";

const FILLERS = new Set(["in", "of", "to", "from", "for", "with", "by", "on", "the", "a", "an"]);

/** Verbs whose object is a plural, which the op has in the singular. */
const COLLECTIVE_VERBS = new Set(["list", "search"]);

/**
 * Derives an op from a plain function name: `list_onto_tasks` in domain `onto` is `onto.task.list`. The verb goes
 * last. The domain's own name and fillers are dropped. The rest is the path from entity to part. Undefined if the
 * name has no words.
 */
export function opFromName(name: string, domain: string): string | undefined {
  const words = tellingWords(splitWords(name), new Set(splitWords(domain)));
  if (words.length === 0) return undefined;
  return [domain, ...verbLast(words)].join(".");
}

/** Drops the domain's own name: always in front, elsewhere only if another word remains. */
function tellingWords(words: readonly string[], own: ReadonlySet<string>): string[] {
  const start = words.findIndex((word) => !own.has(word));
  const rest = words.slice(Math.max(0, start));
  const telling = rest.filter((word) => !own.has(word));
  return telling.length > 1 ? telling : rest;
}

function verbLast(words: string[]): string[] {
  const [first = "", ...others] = words;
  const last = words.at(-1) ?? "";
  if (others.length > 0 && effectOfVerb(first)) {
    const path = others.filter((word) => !FILLERS.has(word));
    if (path.length === 0) return [words.join("_")];
    return [...nounPath(path, first), first];
  }
  if (others.length > 0 && effectOfVerb(last))
    return [...words.slice(0, -1).filter((word) => !FILLERS.has(word)), last];
  return [words.join("_")];
}

function nounPath(path: string[], verb: string): string[] {
  if (verb === "get" && path.length > 1 && path.at(-1) === "details") return path.slice(0, -1);
  if (!COLLECTIVE_VERBS.has(verb)) return path;
  return [...path.slice(0, -1), singular(path.at(-1) ?? "")];
}

function singular(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ss|tus|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (/[^sui]s$/.test(word)) return word.slice(0, -1);
  return word;
}

const LANE_OF_RISK: Readonly<Record<RiskLevel, Lane>> = {
  safe: "read",
  moderate: "write",
  destructive: "destructive",
};

/**
 * Derives a tool's lane: the declared one, never weaker than its risk level, or else the one that its name
 * implies, or else `unknown`.
 */
export function deriveLane(
  tool: { readonly name: string; readonly lane?: Lane; readonly riskLevel?: RiskLevel },
  unknown: Lane,
): Lane {
  const byRisk = tool.riskLevel ? LANE_OF_RISK[tool.riskLevel] : undefined;
  if (tool.lane) return strongest(tool.lane, byRisk ?? "read");
  const byName = laneOfName(tool.name);
  return strongest(byRisk ?? "read", byName ?? unknown);
}

/** A verb may lead (`delete_page`), follow a prefix (`cms_deletePage`) or close the name (`page.delete`). */
function laneOfName(name: string): Lane | undefined {
  const words = splitWords(name);
  const candidates = [words[0], words[1], words.at(-1)].map((word) => word && effectOfVerb(word));
  return candidates.find((lane) => lane !== undefined) || undefined;
}

function strongest(left: Lane, right: Lane): Lane {
  return LANES.indexOf(left) >= LANES.indexOf(right) ? left : right;
}
