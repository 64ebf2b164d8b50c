import { readFile, stat } from "node:fs/promises";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import type { GuardedRequest } from "../../net/guarded-request.ts";
import { readBytes } from "../../net/read-response.ts";
import { isProblem, problem } from "../../schema/problem.ts";
import { field, isFields } from "../../util/fields.ts";
import { reasonOf } from "../../util/reason-of.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const LOAD_MS = 120_000;

/** An OpenAPI 3 document. It comes from outside, so every field may be anything. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly [part: string]: unknown;
}

/** A document and where it came from. */
export interface LoadedDocument {
  readonly document: OpenApiDocument;
  /** Its address, which relative server URLs start from. */
  readonly url?: URL;
}

/**
 * Loads an OpenAPI 3 document from a path or a URL, or checks a given one.
 *
 * @throws `SOURCE_INVALID` if it cannot be read
 */
export async function loadDocument(
  label: string,
  given: string | URL | object,
  guardedFetch: GuardedFetch,
  signal: AbortSignal,
): Promise<LoadedDocument> {
  const url = toUrl(given);
  if (url === undefined && typeof given === "object") return { document: checked(label, given) };
  const text = await readText(label, url ?? String(given), guardedFetch, signal);
  const document = checked(label, await parseText(label, text));
  return url === undefined || url.protocol === "file:" ? { document } : { document, url };
}

function toUrl(given: string | URL | object): URL | undefined {
  if (given instanceof URL) return given;
  return typeof given === "string" && /^https?:\/\//i.test(given) && URL.canParse(given)
    ? new URL(given)
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
    const request = { headers, signal: AbortSignal.any([signal, limit]) };
    const { ok, status, bytes } = await readDocument(label, from, guardedFetch, request).catch((error) => {
      throw limit.aborted ? invalid(label, "its document did not arrive in time") : error;
    });
    if (!ok) throw invalid(label, `its document's address answers ${status}`);
    return bytes.toString("utf8");
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

async function readDocument(label: string, from: URL, guardedFetch: GuardedFetch, request: GuardedRequest) {
  const response = await guardedFetch(from, request);
  const bytes = await readBytes(response, `the document of ${label}`, MAX_BYTES);
  return { ok: response.ok, status: response.status, bytes };
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
  if (!isFields(value) || typeof version !== "string" || !/^3\.\d/.test(version)) {
    throw invalid(label, "its document does not say openapi: 3.x");
  }
  if (!isFields(value.paths)) throw invalid(label, "its document has no paths");
  return value as OpenApiDocument;
}

function invalid(label: string, reason: string) {
  return problem("SOURCE_INVALID", { name: label, reason });
}
