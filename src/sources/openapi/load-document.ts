import { readFile, stat } from "node:fs/promises";
import { pointerParts, unescapePart } from "../../base/json-schema/walk-schema.ts";
import type { GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { readBytes } from "../../base/net/read-response.ts";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { field, fieldsOf, isPlainObject, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const LOAD_MS = 120_000;

/** An outside OpenAPI 3 document: every field may be anything. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly [part: string]: unknown;
}

/** A document and its address. */
export interface LoadedDocument {
  readonly document: OpenApiDocument;
  /** Its address, the base of relative server URLs. */
  readonly url?: URL;
}

/**
 * Loads an OpenAPI 3 document from a path or a URL, or checks an object.
 *
 * @throws `SOURCE_INVALID` if it cannot be read
 */
export async function loadDocument(
  label: string,
  source: string | URL | object,
  guardedFetch: GuardedFetch,
  signal: AbortSignal,
): Promise<LoadedDocument> {
  const url = toUrl(source);
  if (url === undefined && typeof source === "object") return { document: checked(label, source) };
  const text = await readText(label, url ?? String(source), guardedFetch, signal);
  const document = checked(label, await parseText(label, text));
  return url === undefined || url.protocol === "file:" ? { document } : { document, url };
}

function toUrl(location: string | URL | object): URL | undefined {
  if (location instanceof URL) return location;
  return typeof location === "string" && /^https?:\/\//i.test(location) && URL.canParse(location)
    ? new URL(location)
    : undefined;
}

async function readText(
  label: string,
  from: string | URL,
  guardedFetch: GuardedFetch,
  signal: AbortSignal,
): Promise<string> {
  if (from instanceof URL && from.protocol !== "file:") {
    const limit = AbortSignal.timeout(LOAD_MS);
    const headers = { accept: "application/json, application/yaml, */*;q=0.5" };
    try {
      const response = await guardedFetch(from, { headers, signal: AbortSignal.any([signal, limit]) });
      const bytes = await readBytes(response, `the document of ${label}`, MAX_BYTES);
      if (!response.ok) throw invalid(label, `its document's address answers ${response.status}`);
      return bytes.toString("utf8");
    } catch (error) {
      throw limit.aborted ? invalid(label, "its document did not arrive in time") : error;
    }
  }
  try {
    const { size } = await stat(from);
    if (size > MAX_BYTES) throw invalid(label, `its document is larger than ${MAX_BYTES} bytes`);
    return await readFile(from, { encoding: "utf8", signal });
  } catch (error) {
    if (isProblem(error)) throw error;
    throw invalid(label, `its document cannot be read: ${reasonOf(error)}`);
  }
}

async function parseText(label: string, text: string): Promise<unknown> {
  try {
    if (text.trimStart().startsWith("{")) return JSON.parse(text);
    const { parse } = await import("yaml");
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw invalid(label, `its document is neither JSON nor YAML: ${reason}`);
  }
}

function checked(label: string, value: unknown): OpenApiDocument {
  if (typeof field(value, "swagger") === "string") {
    throw invalid(label, "its document is of Swagger 2; convert it to OpenAPI 3");
  }
  const version = field(value, "openapi");
  if (!isPlainObject(value) || typeof version !== "string" || !/^3\.\d/.test(version)) {
    throw invalid(label, "its document does not say openapi: 3.x");
  }
  if (!isPlainObject(value.paths)) throw invalid(label, "its document has no paths");
  return value as OpenApiDocument;
}

function invalid(label: string, reason: string) {
  return problem("SOURCE_INVALID", { name: label, reason });
}

const MAX_CHAIN = 32;

/** Thrown if one operation cannot be used. Other operations still can. */
export class Unusable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Follows references within the document. Returns any other value unchanged. */
export function resolveReference(root: unknown, value: unknown): PlainObject {
  let at = value;
  for (let step = 0; step < MAX_CHAIN; step += 1) {
    const reference = field(at, "$ref");
    if (typeof reference !== "string") return isPlainObject(at) ? at : {};
    at = findTarget(root, reference);
  }
  throw new Unusable("it has references that lead in a circle");
}

/** Like {@link resolveReference}, but returns an empty object for a broken reference. */
export function resolveOrNothing(root: unknown, value: unknown): PlainObject {
  try {
    return resolveReference(root, value);
  } catch (error) {
    if (error instanceof Unusable) return {};
    throw error;
  }
}

/** Finds the target of a local reference such as `#/components/schemas/Pet`. Fetches nothing. */
export function findTarget(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) {
    throw new Unusable(`its reference ${shown(reference)} leads outside the document, which is not followed`);
  }
  let at = root;
  for (const part of partsOf(reference)) at = Array.isArray(at) ? at[Number(part)] : field(at, part);
  if (at === undefined) throw new Unusable(`its reference ${shown(reference)} leads nowhere`);
  return at;
}

/** The keys of a local reference. Invalid percent-encoding is read literally. */
export function partsOf(reference: string): string[] {
  const fragment = reference.slice(1);
  return pointerParts(fragment) ?? fragment.split("/").slice(1).map(unescapePart);
}

function shown(reference: string): string {
  return JSON.stringify(reference.slice(0, 120));
}

/**
 * The base URL of paths: the configured one, or the document's first server.
 *
 * @throws `SOURCE_INVALID` if there is none
 */
export function readBaseUrl(label: string, loaded: LoadedDocument, given: string | undefined): URL {
  const url = given === undefined ? serverUrl(loaded.document, loaded.url) : toServerUrl(given);
  if (url) return url;
  if (given !== undefined) throw invalid(label, "its baseUrl is not a full http or https URL");
  throw invalid(label, "its document names no server with a full URL; give baseUrl");
}

/** The first server that a document, path or operation names. */
export function serverUrl(holder: unknown, relativeTo?: URL): URL | undefined {
  const [server] = listOf(field(holder, "servers"));
  const template = field(server, "url");
  if (typeof template !== "string") return relativeTo && new URL("/", relativeTo);
  const variables = fieldsOf(field(server, "variables"));
  const text = template.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = field(field(variables, name), "default");
    return typeof value === "string" || typeof value === "number" ? String(value) : whole;
  });
  return toServerUrl(text, relativeTo);
}

function toServerUrl(text: string, relativeTo?: URL): URL | undefined {
  if (!URL.canParse(text, relativeTo)) return undefined;
  const url = new URL(text, relativeTo);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.search = "";
  url.hash = "";
  return url;
}
