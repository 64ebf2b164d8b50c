import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { View } from "../access/view.ts";
import { findAddressed } from "../calls/find-addressed.ts";
import type { Entry, ReadableEntry } from "../schema/entry.ts";
import type { Json } from "../util/json.ts";
import { toPlainText } from "../util/plain-text.ts";
import { toSummary } from "../util/to-summary.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { findAddress } from "./skills.ts";
import { matchTemplate } from "./uri-template.ts";
import { visibleContents } from "./visible-content.ts";

const SUMMARY_CHARS = 300;

interface ResourceLists {
  readonly resources: readonly Resource[];
  readonly resourceEntries: ReadonlyMap<string, ReadableEntry>;
  readonly templates: readonly ResourceTemplateType[];
  readonly templateEntries: ReadonlyMap<string, ReadableEntry>;
}

/**
 * Lists documents and skills as resources, and those with params as templates. The address is the `uri` or
 * `uriTemplate` that the source put into the metadata. Without one, or if two entries claim it, the route is the
 * address.
 */
export function listResources(view: View): ResourceLists {
  const entries = view.shown.filter(isDocument).filter(({ status }) => status?.state !== "starting");
  const claims = Map.groupBy(entries, ownAddress);
  const resourceEntries = new Map<string, ReadableEntry>();
  const templateEntries = new Map<string, ReadableEntry>();
  for (const entry of entries) {
    const own = ownAddress(entry);
    const holder = own === undefined ? undefined : findAddress(view, own);
    const keeps = claims.get(own)?.length === 1 && (holder === undefined || holder === entry);
    const { template, uri } = addressOf(entry, keeps);
    if (template === undefined) resourceEntries.set(uri, entry);
    else templateEntries.set(template, entry);
  }
  return {
    resourceEntries,
    templateEntries,
    resources: [...resourceEntries].map(([uri, entry]) => ({ uri, ...describe(entry) })),
    templates: [...templateEntries].map(([uriTemplate, entry]) => ({ uriTemplate, ...describe(entry) })),
  };
}

/** Finds the entry behind a URI, with the params in the URI. Routes find unlisted entries too. */
export function findResource(
  uri: string,
  { resourceEntries, templateEntries }: Pick<ResourceLists, "resourceEntries" | "templateEntries">,
  find: View["find"],
): { entry: ReadableEntry; params: Record<string, unknown> } | undefined {
  const listed = resourceEntries.get(uri);
  if (listed) return { entry: listed, params: {} };
  const addressed = findAddressed(uri, find);
  if (addressed && isDocument(addressed.entry))
    return { entry: addressed.entry, params: addressed.params ?? {} };
  // Templates with the longest fixed start come first, so a catch-all template hides no other.
  const told = (template: string) => template.indexOf("{");
  const ordered = [...templateEntries].sort(([one], [other]) => told(other) - told(one));
  for (const [template, entry] of ordered) {
    const params = matchTemplate(template, uri);
    if (params) return { entry, params: Object.fromEntries(params) };
  }
  return undefined;
}

/** Turns a loaded document into protocol contents. Ready contents keep their shape, with the URI instead of the route. */
export function toContents(uri: string, entry: ReadableEntry, value: Json): ReadResourceResult {
  if (isContents(value)) {
    const { contents, ...rest } = value as unknown as ReadResourceResult;
    return {
      ...rest,
      contents: contents.map((part) => visibleContents(part.uri === entry.route ? { ...part, uri } : part)),
    };
  }
  const mimeType = mimeTypeOf(entry) ?? (typeof value === "string" ? "text/plain" : "application/json");
  return { contents: [{ uri, mimeType, text: toVisibleText(toPlainText(value)) }] };
}

export function isDocument(entry: Entry): entry is ReadableEntry {
  return entry.kind === "resource" || entry.kind === "skill";
}

export function uriOf({ metadata, route }: ReadableEntry): string {
  return typeof metadata.uri === "string" ? metadata.uri : route;
}

function ownAddress({ metadata: { uri, uriTemplate } }: Entry): string | undefined {
  if (typeof uriTemplate === "string") return uriTemplate;
  return typeof uri === "string" ? uri : undefined;
}

function addressOf(entry: ReadableEntry, keepsOwn: boolean): { uri: string; template?: string } {
  const { metadata, route, inputSchema } = entry;
  const uri = keepsOwn ? uriOf(entry) : route;
  if (keepsOwn && typeof metadata.uriTemplate === "string") return { uri, template: metadata.uriTemplate };
  const names = Object.keys((inputSchema.properties ?? {}) as object).filter((name) => /^\w+$/.test(name));
  return names.length > 0 ? { uri, template: `${route}{?${names.join(",")}}` } : { uri };
}

function describe(entry: ReadableEntry) {
  const mimeType = mimeTypeOf(entry);
  const { outputSchema: _, ...presentation } = entry.presentation ?? {};
  return {
    ...(presentation as Partial<Resource>),
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
