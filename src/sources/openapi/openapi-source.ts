import { createGuardedFetch, type GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { systemClock } from "../../base/util/clock.ts";
import { field, fieldsOf, listOf, textOf } from "../../base/util/plain-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { Domain, ReadBeforeWrite } from "../../core/nouns/entry.ts";
import type { AskBefore } from "../../core/nouns/question.ts";
import type { Source, SourceContent } from "../../core/nouns/source.ts";
import { followSource } from "../follow-source.ts";
import { createApiClient } from "./api-client.ts";
import { createCredentials, type OpenApiAuth } from "./credentials.ts";
import {
  type LoadedDocument,
  loadDocument,
  type OpenApiDocument,
  readBaseUrl,
  resolveOrNothing,
  serverUrl,
} from "./load-document.ts";
import { type FoundOperation, isHeaderName, isHeaderValue } from "./operation-plan.ts";
import { assignOps, toDraft } from "./to-draft.ts";

/** Options of {@link createOpenApiSource}. */
export interface OpenApiOptions {
  /** An OpenAPI 3 document, or its path or URL. */
  readonly document: string | URL | object;
  /** Base URL of paths. Default: the document's first server. */
  readonly baseUrl?: string;
  readonly auth?: OpenApiAuth | readonly OpenApiAuth[];
  /** Hosts, as `name` or `name:port`, that may be private and without TLS. */
  readonly allowPrivateHosts?: readonly string[];
  /** Time limit of one call, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether a write warns, is refused or just runs if its session has not read the thing first. Default: warn about
   * changes, but not about tools that create something.
   */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** Which calls need a person's approval, if the gateway's `ask` is less strict. */
  readonly ask?: AskBefore;
}

const METHODS = ["get", "head", "options", "post", "put", "patch", "delete"];
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_OPERATIONS = 5_000;
const DESCRIPTION_CHARS = 400;

/**
 * Creates a source with a domain `label` and one tool for each operation of an OpenAPI 3 document.
 *
 * @throws SOURCE_INVALID if the label is not usable
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createOpenApiSource } from "keyhole/sources";
 *
 * const document = {
 *   openapi: "3.1.0",
 *   info: { title: "Pets", version: "1" },
 *   servers: [{ url: "https://pets.example.com" }],
 *   paths: { "/pets": { get: { operationId: "listPets", summary: "List pets.", responses: {} } } },
 * };
 * const gateway = createGateway({ domains: [], sources: [createOpenApiSource("pets", { document })] });
 * const { hits } = await gateway.ask({ query: "list pets" });
 * console.log(hits[0]?.op);
 * await gateway.close();
 * ```
 */
export function createOpenApiSource(label: string, options: OpenApiOptions): Source {
  if (!/^[a-z][a-z0-9_-]{0,63}$/i.test(label)) {
    const reason = "its label must be letters, digits, hyphens and underscores, starting with a letter";
    throw problem("SOURCE_INVALID", { name: JSON.stringify(label), reason });
  }
  const allowPrivateHosts = options.allowPrivateHosts ?? [];
  let caller: GuardedFetch | undefined;

  const followed = followSource({
    clock: systemClock,
    read: async ({ signal }) => {
      const reader = createGuardedFetch({ allowPrivateHosts, redirects: "public" });
      try {
        const loaded = await loadDocument(label, options.document, reader, signal);
        return { content: toContent(label, loaded, options, caller ?? reader) };
      } finally {
        await reader.close();
      }
    },
    // An API does not report changes. Watching only opens and closes the connections of calls.
    watch: () => {
      const guarded = createGuardedFetch({ allowPrivateHosts });
      caller = guarded;
      return () => guarded.close();
    },
  });
  return { id: `openapi:${label}`, ...followed };
}

function toContent(
  label: string,
  loaded: LoadedDocument,
  options: OpenApiOptions,
  guardedFetch: GuardedFetch,
): SourceContent {
  const { document } = loaded;
  const base = readBaseUrl(label, loaded, options.baseUrl);
  const headers = checkedHeaders(label, options.headers ?? {});
  const auths = options.auth === undefined ? [] : [options.auth].flat();
  const credentials = createCredentials(auths, guardedFetch, label);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const client = createApiClient({ base, guardedFetch, credentials, headers, timeoutMs });
  const { readBeforeWrite, ask } = options;
  const operations = findOperations(document);
  const drafted = operations.slice(0, MAX_OPERATIONS);
  const ops = assignOps(label, drafted);
  const context = {
    label,
    root: document,
    client,
    server: serverUrl(document, loaded.url) ?? base,
    timeoutMs,
    isSupplied: ({ place, name }: { readonly place: string; readonly name: string }) =>
      credentials.fills(place, name) || (place === "header" && Object.hasOwn(headers, name.toLowerCase())),
  };
  return {
    domains: [
      {
        ...toDomain(label, document, operations.length - drafted.length),
        ...(readBeforeWrite && { readBeforeWrite }),
        ...(ask && { ask }),
      },
    ],
    drafts: drafted.map((operation, index) => toDraft(operation, ops[index]!, context)),
  };
}

function findOperations(document: OpenApiDocument): FoundOperation[] {
  return Object.entries(fieldsOf(document.paths)).flatMap(([path, declared]) => {
    const pathItem = resolveOrNothing(document, declared);
    return METHODS.filter((method) => typeof field(pathItem, method) === "object").map((method) => {
      const operation = fieldsOf(pathItem[method]);
      const operationId = textOf(field(operation, "operationId"))?.trim();
      const tags = listOf(field(operation, "tags")).flatMap((tag) => textOf(tag) ?? []);
      return {
        method: method.toUpperCase(),
        // Documents distinguish two operations of one path by a fragment, which is never sent.
        path: path.split("#", 1)[0]!,
        pathItem,
        operation,
        ...(operationId && { operationId }),
        tags: tags.map((tag) => toVisibleText(tag, 100)).filter((tag) => tag !== ""),
      };
    });
  });
}

function toDomain(label: string, document: OpenApiDocument, leftOut: number): Domain {
  const title = textOf(field(document.info, "title")) ?? label;
  const description = textOf(field(document.info, "description"));
  const more = leftOut > 0 ? ` ${leftOut} operations over the limit of ${MAX_OPERATIONS} are left out.` : "";
  const text = description ? `${title}: ${toSummary(description, DESCRIPTION_CHARS)}` : title;
  return {
    name: label,
    description: `${toVisibleText(text, DESCRIPTION_CHARS)}${more}`,
    scopes: [],
    rules: [],
  };
}

function checkedHeaders(label: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const unsendable = entries.find(
    ([name, value]) => !isHeaderName(name) || name === "host" || !isHeaderValue(value),
  );
  if (unsendable === undefined) return Object.fromEntries(entries);
  const reason = `its header ${JSON.stringify(unsendable[0])} cannot be sent`;
  throw problem("SOURCE_INVALID", { name: label, reason });
}
