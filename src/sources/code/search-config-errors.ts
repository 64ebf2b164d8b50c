import type { DomainDefinition } from "../../schema/definition.ts";
import { FACT_KEYS, QUERY_FIELDS, readNames, readSegmentFilter } from "../../schema/search-config.ts";
import { nearest } from "../../util/nearest.ts";

/** Lists everything in a domain's search config that search could not follow. */
export function searchConfigErrors(definition: DomainDefinition): string[] {
  const { queryBy, weights, segments = [] } = definition.searchConfig ?? {};
  return [
    ...readNames(queryBy).flatMap((field) =>
      isOneOf(field, QUERY_FIELDS) ? [] : `queryBy names ${unknown(field, QUERY_FIELDS)}`,
    ),
    ...weightErrors(queryBy, weights),
    ...segments.flatMap(({ name, filter }) =>
      filterErrors(filter, definition).map((error) => `segment ${name}: ${error}`),
    ),
  ];
}

function weightErrors(queryBy: string | undefined, weights: string | undefined): string[] {
  if (weights === undefined) return [];
  if (queryBy === undefined) return ["weights need queryBy, which says the fields that they are for"];
  const [fields, given] = [readNames(queryBy), readNames(weights)];
  const wrong = given.filter((weight) => !(Number(weight) > 0));
  return [
    ...(fields.length === given.length
      ? []
      : [`weights has ${given.length} numbers, and queryBy has ${fields.length} fields`]),
    ...wrong.map((weight) => `the weight ${JSON.stringify(weight)} is not a number above 0`),
  ];
}

function filterErrors(filter: string, { resources = [] }: DomainDefinition): string[] {
  const read = readSegmentFilter(filter);
  if (!read) return [`the filter ${filter} is not of the form key:=value, such as resource_type:=column`];
  const known = new Set([...FACT_KEYS, ...resources.flatMap(({ metadata = {} }) => Object.keys(metadata))]);
  return known.has(read.key) ? [] : [`the filter names ${unknown(read.key, known)}`];
}

function unknown(name: string, known: Iterable<string>): string {
  const [near] = nearest(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${[...known].join(", ")}`;
  return `${name || "nothing"}, which is not known; ${hint}`;
}

function isOneOf(name: string, list: readonly string[]): boolean {
  return list.includes(name);
}
