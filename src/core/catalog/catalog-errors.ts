import { type Problem, problem } from "../../base/problems/problem.ts";
import { countOf } from "../../base/util/count-of.ts";
import { nameTableOf } from "../../search/lexical/names.ts";
import type { Domain, Entry, Rule } from "../nouns/entry.ts";

/** Lists conflicts between definitions, one sentence each with its location. Entries must be sorted by route. */
export function catalogErrors(domains: readonly Domain[], entries: readonly Entry[]): string[] {
  return [
    ...doubledNames(domains).map((name) => `domain ${name}: defined more than once`),
    ...routeCollisions(entries),
    ...opCollisions(entries),
    ...entries
      .filter(({ related, guidance }) => related.length + guidance.length > 0)
      .flatMap((entry) => entryErrors(entry, entries)),
  ];
}

function routeCollisions(entries: readonly Entry[]): string[] {
  if (!entries.some(({ route }, at) => at > 0 && route === entries[at - 1]?.route)) return [];
  const collisions = [...Map.groupBy(entries, (entry) => entry.route)].filter(
    ([, sharing]) => sharing.length > 1,
  );
  return collisions.map(([route, sharing]) => {
    const names = sharing.map((entry) => entry.name).join(" and ");
    return `${route}: ${names} have this route; give all but one another op or route`;
  });
}

function opCollisions(all: readonly Entry[]): string[] {
  // An op begins with its domain, and lazy tools with different routes have different ops.
  const domains = new Set(all.filter(({ lazy }) => !lazy).map(({ domain }) => domain));
  const entries = all.filter(({ domain }) => domains.has(domain));
  if (new Set(entries.map(({ op }) => op)).size === entries.length) return [];
  const routesByOp = Map.groupBy(entries, (entry) => entry.op);
  return [...routesByOp].flatMap(([op, sharing]) => {
    const routes = new Set(sharing.map((entry) => entry.route));
    if (routes.size < 2) return [];
    return [`${[...routes].join(" and ")}: both have the op ${op}; give one of them another op or route`];
  });
}

function entryErrors({ route, domain, related, guidance }: Entry, entries: readonly Entry[]): string[] {
  const isUnknown = (name: string) => !routeOfName(name, domain, entries);
  const steps = guidance.map((step) => step.route);
  return [
    ...related.filter(isUnknown).map((name) => `${route}: relatedTools names ${name}, which is not defined`),
    ...steps.filter(isUnknown).map((name) => `${route}: its guidance leads to ${name}, which is not defined`),
  ];
}

/** Rules whose category no entry in the domain has: no answer would ever show them. */
export function unusedRules(domain: Domain, entries: readonly Entry[]): Rule[] {
  if (domain.rules.length === 0) return [];
  const categories = new Set(
    entries.filter((entry) => entry.domain === domain.name).map((entry) => entry.category),
  );
  return domain.rules.filter(({ category }) => category !== undefined && !categories.has(category));
}

function doubledNames(domains: readonly Domain[]): string[] {
  return [...Map.groupBy(domains, ({ name }) => name)]
    .filter(([, sharing]) => sharing.length > 1)
    .map(([name]) => name);
}

/** The route for a name, op, alias or route in a definition. A name in the same domain wins. */
export function routeOfName(name: string, domain: string, entries: readonly Entry[]): string | undefined {
  const sharing = nameTableOf(entries).named(name);
  const entry =
    sharing.find(({ route, op }) => route === name || op === name) ??
    sharing.find((candidate) => candidate.domain === domain) ??
    sharing[0];
  return entry?.route;
}

/** The problem of a catalog with these errors, one sentence each. */
export function catalogInvalid(errors: readonly string[]): Problem {
  const list = errors.map((error) => `- ${error}`).join("\n");
  return problem("CATALOG_INVALID", { problems: countOf(errors.length, "problem"), list }, { errors });
}
