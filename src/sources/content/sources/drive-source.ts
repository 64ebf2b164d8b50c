import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { statusProblem } from "../../../base/net/status-problem.ts";
import { problem } from "../../../base/problems/problem.ts";
import { reveal, SEVERAL_LINES, type Secret } from "../../../base/safety/known-secrets.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { field, textOf } from "../../../base/util/plain-object.ts";
import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../../core/nouns/pipeline.ts";
import { createAccessTokens } from "../../access-token.ts";
import { type ContentHttpOptions, collectPages, createHttpClient, type HttpAuth } from "./http-client.ts";
import { contentTypeOf, decodeText } from "./local-source.ts";

/** Options of `drive` of {@link contentSources}. */
export interface DriveSourceOptions extends ContentHttpOptions {
  /** Key file of a service account. Share the files with its address. */
  readonly account: ServiceAccount;
  /** Folders to read, recursively. Default: everything that the account can see. */
  readonly folderIds?: readonly string[];
  /** Further condition in Drive's query language, such as `fullText contains 'policy'`. */
  readonly query?: string;
  /** Person to impersonate, if the Workspace domain allows it. */
  readonly subject?: string;
  readonly name?: string;
}

const SCOPE = "https://www.googleapis.com/auth/drive.readonly";
const FOLDER = "application/vnd.google-apps.folder";
const FIELDS = "id,name,mimeType,description,version,modifiedTime,size,webViewLink";
const MAX_BYTES = 5 * 1024 * 1024;
/** Export types for Google's own document types. */
const EXPORTS: ReadonlyMap<string, string> = new Map([
  ["application/vnd.google-apps.document", "text/markdown"],
  ["application/vnd.google-apps.spreadsheet", "text/csv"],
  ["application/vnd.google-apps.presentation", "text/plain"],
]);
const TEXT = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|sql)$/;

/**
 * Creates a source for text files and exported Docs, Sheets and Slides of Google Drive.
 *
 * @throws SOURCE_INVALID if `baseUrl` is not a URL
 */
export function createDriveSource(options: DriveSourceOptions): ContentSource {
  const { folderIds } = options;
  const name = options.name ?? `drive:${folderIds?.join(",") ?? options.account.client_email}`;
  const auth = createGoogleAuth(name, options);
  const client = createHttpClient({ name, auth, baseUrl: "https://www.googleapis.com/drive/v3" }, options);

  async function list(condition: string | undefined, context?: FetchContext): Promise<unknown[]> {
    const q = ["trashed = false", condition].filter(Boolean).join(" and ");
    const fetchPage = async (pageToken: string, counting: FetchContext) => {
      const query = {
        q,
        pageSize: 1000,
        fields: `nextPageToken,incompleteSearch,files(${FIELDS})`,
        supportsAllDrives: "true",
        includeItemsFromAllDrives: "true",
        pageToken: pageToken || undefined,
      };
      const value = await client.json("files", query, counting);
      const items = field(value, "files");
      if (!Array.isArray(items) || field(value, "incompleteSearch") === true)
        throw problem("SOURCE_INVALID", { name, reason: "it did not list all files" });
      return { found: items, next: textOf(field(value, "nextPageToken")) };
    };
    return collectPages<unknown, string>(name, "", fetchPage, context);
  }

  /** Lists folders separately, so that a condition on files does not hide them. */
  async function walk(context?: FetchContext): Promise<unknown[]> {
    const condition = options.query && `(${options.query})`;
    if (folderIds === undefined) return list(condition, context);
    const files = new Map<unknown, unknown>();
    const folders = new Set(folderIds);
    // Iterating a set includes elements added meanwhile.
    for (const folder of folders) {
      const inside = `'${folder.replace(/[\\']/g, "\\$&")}' in parents`;
      const below = await list(`${inside} and mimeType = '${FOLDER}'`, context);
      for (const subfolder of below) folders.add(String(field(subfolder, "id")));
      const filter = [inside, `mimeType != '${FOLDER}'`, condition].filter(Boolean).join(" and ");
      for (const file of await list(filter, context)) files.set(field(file, "id"), file);
    }
    return [...files.values()];
  }

  async function fetch(id: string, context?: FetchContext): Promise<RawContent> {
    const path = `files/${encodeURIComponent(id)}`;
    const file = await client.json(path, { fields: FIELDS, supportsAllDrives: "true" }, context);
    if (!isText(file)) throw problem("NOT_FOUND", { name: id });
    const exported = EXPORTS.get(String(field(file, "mimeType")));
    const bytes = exported
      ? await client.bytes(`${path}/export`, { mimeType: exported }, context)
      : await client.bytes(path, { alt: "media", supportsAllDrives: "true" }, context);
    const size = Number(field(file, "size"));
    if (!exported && size >= 0 && size !== bytes.length)
      throw problem("SOURCE_INVALID", { name, reason: `${id} did not arrive whole` });
    return { ...toDocument(file), content: decodeText(bytes) ?? "" };
  }

  return {
    name,
    listDocuments: async (context) => (await walk(context)).filter(isText).map(toDocument),
    fetchContent: fetch,
  };
}

function isText(file: unknown): boolean {
  const type = String(field(file, "mimeType"));
  if (EXPORTS.has(type)) return true;
  return TEXT.test(type) && Number(field(file, "size") ?? 0) <= MAX_BYTES;
}

/** Names may repeat within a folder, so the path contains the id. */
function toDocument(file: unknown): RawDocument {
  const id = String(field(file, "id"));
  const name = textOf(field(file, "name")) ?? id;
  const type = String(field(file, "mimeType"));
  const byName = contentTypeOf(name);
  const ownType = type === "text/plain" && byName !== "text/plain" ? byName : type;
  return {
    id,
    name,
    contentType: EXPORTS.get(type) ?? ownType,
    version: String(field(file, "version") ?? field(file, "modifiedTime")),
    metadata: { path: id, url: field(file, "webViewLink") },
  };
}

/** Fields of a service account's key file. */
export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: Secret;
  readonly private_key_id?: string;
  readonly token_uri?: string;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const LIFE_SECONDS = 3600;
const EARLY_MS = 60_000;

/** Gets access tokens for a service account with a signed claim. */
function createGoogleAuth(name: string, options: DriveSourceOptions): HttpAuth {
  const { account, allowPrivateHosts = [], clock = systemClock } = options;
  const tokens = createAccessTokens({
    name,
    url: account.token_uri ?? TOKEN_URI,
    guardedFetch: createGuardedFetch({ allowPrivateHosts }),
    now: clock.now,
    lifeMs: EARLY_MS,
    earlyMs: EARLY_MS,
    toRequest: async () => {
      const assertion = await sign(name, options, Math.floor(clock.now() / 1000));
      return { fields: { grant_type: GRANT, assertion }, secrets: [assertion] };
    },
    toProblem: refused,
  });
  return {
    get: async (signal) => {
      const token = await tokens.get(signal);
      return { headers: { authorization: `Bearer ${token}` }, secrets: [token] };
    },
    forget: tokens.forget,
  };
}

async function sign(name: string, { account, subject }: DriveSourceOptions, now: number): Promise<string> {
  const pem = await reveal(account.private_key, name, SEVERAL_LINES);
  try {
    const { importPKCS8, SignJWT } = await import("jose");
    const key = await importPKCS8(pem.replaceAll("\\n", "\n"), "RS256");
    return await new SignJWT({ scope: SCOPE, ...(subject && { sub: subject }) })
      .setProtectedHeader({
        alg: "RS256",
        typ: "JWT",
        ...(account.private_key_id && { kid: account.private_key_id }),
      })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri ?? TOKEN_URI)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFE_SECONDS)
      .sign(key);
  } catch {
    const reason = "its private key cannot be read; PKCS #8 in PEM is needed.";
    throw problem("LOGIN_NEEDED", { name, status: "nothing", reason });
  }
}

/** Google answers a rejected claim with 400: the login failed. */
function refused(name: string, response: Parameters<typeof statusProblem>[1], value: unknown) {
  if (response.status !== 400) return statusProblem(name, response, value);
  const reason = String(field(value, "error_description") ?? field(value, "error") ?? "no reason given");
  return problem("LOGIN_NEEDED", { name, status: 400, reason });
}
