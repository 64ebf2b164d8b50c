import { addressOf } from "../../base/util/address-of.ts";
import { alikeKey } from "../../search/arrange.ts";
import { PAGE } from "../../search/ranking/tuning.ts";
import type { Entry } from "../nouns/entry.ts";

const MOST_GROUPS = 2;
const MOST_PARAMS = 4;

/** Says how the params of tools with the same name in several domains differ. */
export function alikeHits(hits: readonly Entry[]): string[] {
  return [...Map.groupBy(hits, alikeKey)]
    .flatMap(([key, group]) => (key === undefined ? [] : [group]))
    .filter((group) => new Set(group.map(({ domain }) => domain)).size > 1)
    .slice(0, MOST_GROUPS)
    .map((group) => describe(group.slice(0, PAGE.maxAlike)));
}

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
