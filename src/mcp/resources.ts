import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { View } from "../access/view.ts";
import { toContentText } from "../operations/show-result.ts";
import type { ReadableEntry } from "../schema/entry.ts";
import type { Json } from "../util/json.ts";
import { toSummary } from "../util/to-summary.ts";
import { matchTemplate } from "./uri-template.ts";

const SUMMARY_CHARS = 300;

interface ResourceLists {
  readonly resources: readonly Resource[];
  readonly resourceEntries: ReadonlyMap<string, ReadableEntry>;
  readonly templates: readonly ResourceTemplateType[];
  readonly templateEntries: ReadonlyMap<string, ReadableEntry>;
}

/**
 * Documents and skills as resources; those that take params as templates. A source that has addresses of its
 * own gives them as `uri` or `uriTemplate` in the metadata; otherwise the route is the address.
 */
export function listResources(view: View): ResourceLists {
  const resourceEntries = new Map<string, ReadableEntry>();
  const templateEntries = new Map<string, ReadableEntry>();
  for (const entry of view.shown) {
    if (entry.kind !== "resource" && entry.kind !== "skill") continue;
    const template = templateOf(entry);
    const [map, address] = template ? [templateEntries, template] : [resourceEntries, uriOf(entry)];
    if (!map.has(address)) map.set(address, entry);
  }
  return {
    resourceEntries,
    templateEntries,
    resources: [...resourceEntries].map(([uri, entry]) => ({ uri, ...describe(entry) })),
    templates: [...templateEntries].map(([uriTemplate, entry]) => ({ uriTemplate, ...describe(entry) })),
  };
}

/** The entry behind a URI, with the params that the URI spells. Unveiled entries are read by their route. */
export function findResource(
  uri: string,
  { resourceEntries, templateEntries }: Pick<ResourceLists, "resourceEntries" | "templateEntries">,
  find: View["find"],
): { entry: ReadableEntry; params: Record<string, string> } | undefined {
  const listed = resourceEntries.get(uri) ?? find(uri);
  if (listed && (listed.kind === "resource" || listed.kind === "skill")) return { entry: listed, params: {} };
  for (const [template, entry] of templateEntries) {
    const params = matchTemplate(template, uri);
    if (params) return { entry, params: Object.fromEntries(params) };
  }
  return undefined;
}

/** A loaded document as the protocol carries it. One that is already in that shape stays as it is. */
export function toContents(uri: string, entry: ReadableEntry, value: Json): ReadResourceResult {
  if (isContents(value)) return value as unknown as ReadResourceResult;
  const mimeType = mimeTypeOf(entry) ?? (typeof value === "string" ? "text/plain" : "application/json");
  return { contents: [{ uri, mimeType, text: toContentText(value) }] };
}

export function uriOf({ metadata, route }: ReadableEntry): string {
  return typeof metadata.uri === "string" ? metadata.uri : route;
}

function templateOf({ metadata, route, inputSchema }: ReadableEntry): string | undefined {
  if (typeof metadata.uriTemplate === "string") return metadata.uriTemplate;
  const names = Object.keys((inputSchema.properties ?? {}) as object).filter((name) => /^\w+$/.test(name));
  return names.length > 0 ? `${route}{?${names.join(",")}}` : undefined;
}

function describe(entry: ReadableEntry) {
  const mimeType = mimeTypeOf(entry);
  return {
    name: entry.name,
    description: toSummary(entry.description, SUMMARY_CHARS),
    ...(mimeType && { mimeType }),
  };
}

function mimeTypeOf({ metadata }: ReadableEntry): string | undefined {
  return typeof metadata.mimeType === "string" ? metadata.mimeType : undefined;
}

function isContents(value: Json): boolean {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { contents } = value;
  return (
    Array.isArray(contents) &&
    contents.every((part) => part !== null && typeof part === "object" && "uri" in part)
  );
}
