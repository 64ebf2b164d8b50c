import { problem } from "../../schema/problem.ts";
import { field, fieldsOf, listOf } from "../../util/fields.ts";
import type { LoadedDocument } from "./load-document.ts";

/**
 * Returns the URL that paths are relative to: the given one, or the document's first server.
 *
 * @throws `SOURCE_INVALID` if there is none
 */
export function readBaseUrl(label: string, loaded: LoadedDocument, given: string | undefined): URL {
  const url = given === undefined ? serverUrl(loaded.document, loaded.url) : toUrl(given);
  if (url) return url;
  const reason =
    given === undefined
      ? "its document names no server with a full URL; give baseUrl"
      : "its baseUrl is not a full http or https URL";
  throw problem("SOURCE_INVALID", { name: label, reason });
}

/** Returns the first server that a document, path or operation names. */
export function serverUrl(holder: unknown, relativeTo?: URL): URL | undefined {
  const [server] = listOf(field(holder, "servers"));
  const template = field(server, "url");
  if (typeof template !== "string") return relativeTo && new URL("/", relativeTo);
  const variables = fieldsOf(field(server, "variables"));
  const text = template.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = field(field(variables, name), "default");
    return typeof value === "string" || typeof value === "number" ? String(value) : whole;
  });
  return toUrl(text, relativeTo);
}

function toUrl(text: string, relativeTo?: URL): URL | undefined {
  if (!URL.canParse(text, relativeTo)) return undefined;
  const url = new URL(text, relativeTo);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.search = "";
  url.hash = "";
  return url;
}
