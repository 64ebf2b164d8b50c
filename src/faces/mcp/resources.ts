import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { Json } from "../../base/util/json.ts";
import { field, isPlainObject } from "../../base/util/plain-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { resolveAddress, type View } from "../../core/access/view.ts";
import type { Entry, ReadableEntry } from "../../core/nouns/entry.ts";
import { toPlainText } from "../../core/nouns/plain-text.ts";
import { visibleContents } from "./call-native.ts";
import { findAddress } from "./prompts.ts";

const SUMMARY_CHARS = 300;

/**
 * Lists documents and skills as resources, and those with params as templates. The address is the `uri` or
 * `uriTemplate` that the source put into the metadata. Without one, or if two entries claim it, the route is the
 * address.
 */
export function listResources(view: View) {
  const entries = view.shown.filter(isDocument).filter(({ status }) => status?.state !== "starting");
  const claims = Map.groupBy(entries, ownAddress);
  const resourceEntries = new Map<string, ReadableEntry>();
  const templateEntries = new Map<string, ReadableEntry>();
  for (const entry of entries) {
    const address = ownAddress(entry);
    const holder = address === undefined ? undefined : findAddress(view, address);
    const keeps = claims.get(address)?.length === 1 && (holder === undefined || holder === entry);
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
  {
    resourceEntries,
    templateEntries,
  }: Pick<ReturnType<typeof listResources>, "resourceEntries" | "templateEntries">,
  find: View["find"],
): { entry: ReadableEntry; params: Record<string, unknown> } | undefined {
  const listed = resourceEntries.get(uri);
  if (listed) return { entry: listed, params: {} };
  const addressed = resolveAddress(uri, find);
  if (addressed && isDocument(addressed.entry))
    return { entry: addressed.entry, params: addressed.params ?? {} };
  // Templates with the longest fixed start come first, so a catch-all template hides no other.
  const fixedStart = (template: string) => template.indexOf("{");
  const ordered = [...templateEntries].sort(([one], [other]) => fixedStart(other) - fixedStart(one));
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
  const contents = field(value, "contents");
  return Array.isArray(contents) && contents.every((part) => isPlainObject(part) && "uri" in part);
}

/** A part of a template: literal text or a variable. */
type TemplatePart = { readonly literal: string } | { readonly name: string; readonly slashes: boolean };

const MAX_CHARS = 4_096;

/**
 * Matches a URI against a template of `{name}` (no slash), `{+name}` (anything) and a last `{?a,b}`.
 * Templates may come from outside, so they never become regular expressions: each part is searched once, from
 * left to right.
 */
export function matchTemplate(template: string, uri: string): Map<string, string> | undefined {
  if (template.length > MAX_CHARS || uri.length > MAX_CHARS) return undefined;
  const { path, query } = splitQuery(template);
  const pathEnd = query.length > 0 && uri.includes("?") ? uri.indexOf("?") : uri.length;
  const found = new Map<string, string>();
  let rest = uri.slice(0, pathEnd);
  const parts = toParts(path);
  for (const [index, part] of parts.entries()) {
    if ("literal" in part) {
      if (!rest.startsWith(part.literal)) return undefined;
      rest = rest.slice(part.literal.length);
      continue;
    }
    const next = parts[index + 1];
    const end =
      next && "literal" in next ? endOf(rest, next.literal, index + 2 === parts.length) : rest.length;
    const value = rest.slice(0, end);
    if (end <= 0 || (!part.slashes && value.includes("/"))) return undefined;
    found.set(part.name, decode(value));
    rest = rest.slice(end);
  }
  if (rest !== "") return undefined;
  for (const [name, value] of new URLSearchParams(uri.slice(pathEnd + 1))) {
    if (query.includes(name)) found.set(name, value);
  }
  return found;
}

function splitQuery(template: string): { path: string; query: string[] } {
  const start = template.lastIndexOf("{?");
  if (start < 0 || !template.endsWith("}")) return { path: template, query: [] };
  return { path: template.slice(0, start), query: template.slice(start + 2, -1).split(",") };
}

function toParts(path: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let rest = path;
  while (rest !== "") {
    const open = rest.indexOf("{");
    const close = rest.indexOf("}", open);
    if (open < 0 || close < 0) return [...parts, { literal: rest }];
    if (open > 0) parts.push({ literal: rest.slice(0, open) });
    const slashes = rest[open + 1] === "+";
    parts.push({ name: rest.slice(open + (slashes ? 2 : 1), close), slashes });
    rest = rest.slice(close + 1);
  }
  return parts;
}

/** Finds a literal at its first occurrence; the last one must end the URI. */
function endOf(text: string, literal: string, last: boolean): number {
  if (!last) return text.indexOf(literal, 1);
  return text.endsWith(literal) ? text.length - literal.length : -1;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
