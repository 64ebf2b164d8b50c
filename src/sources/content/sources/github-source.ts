import { createHash } from "node:crypto";
import { basename, matchesGlob } from "node:path";
import { problem } from "../../../base/problems/problem.ts";
import type { Secret } from "../../../base/safety/known-secrets.ts";
import { field, listOf } from "../../../base/util/plain-object.ts";
import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../../core/nouns/pipeline.ts";
import {
  type ContentHttpOptions,
  collectPages,
  createHeaderAuth,
  createHttpClient,
  type HttpClient,
  type HttpQuery,
  NO_AUTH,
} from "./http-client.ts";
import { contentTypeOf, decodeText } from "./local-source.ts";

/** Options of `github` of {@link contentSources}. */
export interface GitHubSourceOptions extends ContentHttpOptions {
  readonly owner: string;
  readonly repo: string;
  /** Kinds to read. Default: pull requests. */
  readonly kinds?: readonly GitHubKind[];
  readonly token?: Secret;
  /** State of pull requests and issues. Default: `all`. */
  readonly state?: "open" | "closed" | "all";
  /** Earliest time of issues and commits (ISO 8601). */
  readonly since?: string;
  /** Branch, tag or commit for commits and files. Default: the default branch. */
  readonly ref?: string;
  /** Globs of files to read. Default: all Markdown files. */
  readonly files?: readonly string[];
  /** Maximum per kind, newest first. Files are not limited. Default: 1,000. */
  readonly limit?: number;
  readonly name?: string;
}

/** Kinds of content that `contentSources.github` reads. */
export type GitHubKind = "prs" | "issues" | "commits" | "files";

const PER_PAGE = 100;
const HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/**
 * Creates a source for pull requests, issues, commits and files of a GitHub repository.
 *
 * @throws SOURCE_INVALID if `baseUrl` is not a URL
 */
export function createGitHubSource(options: GitHubSourceOptions): ContentSource {
  const { owner, repo, token, kinds = ["prs"], state = "all", since, ref, limit = 1_000 } = options;
  const name = options.name ?? `github:${owner}/${repo}:${kinds.join(",")}`;
  const auth = token === undefined ? NO_AUTH : createHeaderAuth(name, "authorization", token, "Bearer ");
  const baseUrl = "https://api.github.com";
  const client = createHttpClient({ name, auth, baseUrl, headers: HEADERS }, options);
  const repository = `repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
  const files = createGitHubFiles(client, repository, name, ref, options.files);

  /** Newest first: `most` drops the oldest. */
  async function list(path: string, query: HttpQuery, context?: FetchContext, most = limit) {
    let room = most;
    const first = `${repository}/${path}`;
    const fetchPage = async (url: string, counting: FetchContext) => {
      const pageQuery = url === first ? { ...query, per_page: PER_PAGE } : {};
      const { value, next } = await client.page(url, pageQuery, counting);
      if (!Array.isArray(value)) throw problem("SOURCE_INVALID", { name, reason: "it listed no array" });
      const items = value.slice(0, room);
      room -= items.length;
      return { found: items, next: room > 0 ? next : undefined };
    };
    return collectPages<unknown, string>(name, first, fetchPage, context);
  }

  /** Reads a list that belongs to one document, such as its comments, without reporting progress. */
  const all = (path: string, context?: FetchContext) =>
    list(path, {}, context && { ...context, progress: () => {} }, Number.POSITIVE_INFINITY);
  const one = (path: string, context?: FetchContext) => client.json(`${repository}/${path}`, {}, context);

  const listers: Record<GitHubKind, (context?: FetchContext) => Promise<RawDocument[]>> = {
    prs: async (context) => {
      const query = { state, sort: "updated", direction: "desc" };
      return (await list("pulls", query, context)).map((pull) => toDiscussion("pr", pull));
    },
    issues: async (context) => {
      const query = { state, since, sort: "updated", direction: "desc" };
      // The API lists pull requests as issues too.
      const issues = (await list("issues", query, context)).filter((issue) => !field(issue, "pull_request"));
      return issues.map((issue) => toDiscussion("issue", issue));
    },
    commits: async (context) => (await list("commits", { sha: ref, since }, context)).map(toCommit),
    files: files.list,
  };

  async function fetchDiscussion(contentType: "pr" | "issue", number: string, context?: FetchContext) {
    const value = await one(`${contentType === "pr" ? "pulls" : "issues"}/${number}`, context);
    const hasComments = Number(field(value, "comments") ?? 0) > 0;
    const comments = hasComments ? await all(`issues/${number}/comments`, context) : [];
    const changed = contentType === "pr" ? await all(`pulls/${number}/files`, context) : [];
    const files = changed.map((file) => pick(file, FILE_FIELDS));
    const content = { ...pick(value, DISCUSSION_FIELDS), comments, files };
    return { ...toDiscussion(contentType, value), content: JSON.stringify(content) };
  }

  return {
    name,
    listDocuments: async (context) => {
      const documents: RawDocument[] = [];
      for (const kind of new Set(kinds)) documents.push(...(await listers[kind](context)));
      return documents;
    },
    fetchContent: async (documentId, context): Promise<RawContent> => {
      const [, kind, rest = ""] = /^(pr|issue|commit|file):(.+)$/s.exec(documentId) ?? [];
      if (kind === "file") return files.fetch(rest, context);
      if (kind === "commit" && /^[0-9a-f]{40,64}$/.test(rest)) {
        const value = await one(`commits/${rest}`, context);
        const changed = listOf(field(value, "files")).map((file) => pick(file, FILE_FIELDS));
        const content = { ...pick(value, ["sha", "commit", "html_url", "stats"]), files: changed };
        return { ...toCommit(value), content: JSON.stringify(content) };
      }
      if ((kind === "pr" || kind === "issue") && /^\d{1,12}$/.test(rest)) {
        return fetchDiscussion(kind, rest, context);
      }
      throw problem("NOT_FOUND", { name: documentId });
    },
  };
}

const DISCUSSION_FIELDS = [
  ...["number", "title", "body", "state", "draft", "user", "labels", "head", "base", "html_url"],
  ...["created_at", "updated_at", "closed_at", "merged_at", "additions", "deletions", "changed_files"],
];

const FILE_FIELDS = ["filename", "status", "additions", "deletions"];

function toDiscussion(contentType: "pr" | "issue", value: unknown): RawDocument {
  const number = String(field(value, "number"));
  return {
    id: `${contentType}:${number}`,
    name: `${contentType === "pr" ? "PR" : "Issue"} #${number}`,
    contentType,
    version: String(field(value, "updated_at")),
    metadata: { path: `${contentType}s/${number}`, url: field(value, "html_url") },
  };
}

function toCommit(value: unknown): RawDocument {
  const sha = String(field(value, "sha"));
  return {
    id: `commit:${sha}`,
    name: `Commit ${sha.slice(0, 7)}`,
    contentType: "commit",
    version: sha,
    metadata: { path: `commits/${sha.slice(0, 12)}`, url: field(value, "html_url") },
  };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, field(value, name)]));
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_TREES = 20_000;
const SYMBOLIC_LINK = "120000";

/** Reads the files of a repository: lists its tree, fetches blobs. */
function createGitHubFiles(
  client: HttpClient,
  repository: string,
  name: string,
  ref = "HEAD",
  globs: readonly string[] = ["**/*.md"],
) {
  const get = (path: string, context?: FetchContext) => client.json(`${repository}/${path}`, {}, context);

  /** If a tree is too large for one answer, reads it folder by folder. */
  async function list(context?: FetchContext): Promise<RawDocument[]> {
    const whole = await get(`git/trees/${encodeURIComponent(ref)}?recursive=1`, context);
    if (field(whole, "truncated") !== true) return toDocuments(whole, "");
    const waiting = [{ sha: ref, prefix: "" }];
    const readFolder = async (position: number, counting: FetchContext) => {
      if (position > MAX_TREES) throw invalid("it has too many folders");
      const { sha, prefix } = waiting.pop()!;
      const tree = await get(`git/trees/${encodeURIComponent(sha)}`, counting);
      if (field(tree, "truncated") === true)
        throw invalid(`its folder ${prefix || "/"} is too large to be listed`);
      const folders = listOf(field(tree, "tree")).filter((entry) => field(entry, "type") === "tree");
      for (const folder of folders)
        waiting.push({ sha: String(field(folder, "sha")), prefix: `${prefix}${field(folder, "path")}/` });
      const next = waiting.length > 0 ? position + 1 : undefined;
      return { found: toDocuments(tree, prefix), next };
    };
    return collectPages<RawDocument, number>(name, 0, readFolder, context);
  }

  function toDocuments(tree: unknown, prefix: string): RawDocument[] {
    return listOf(field(tree, "tree"))
      .filter((entry) => field(entry, "type") === "blob" && field(entry, "mode") !== SYMBOLIC_LINK)
      .filter((entry) => Number(field(entry, "size") ?? 0) <= MAX_BYTES)
      .map((entry) => toDocument(`${prefix}${String(field(entry, "path"))}`, String(field(entry, "sha"))))
      .filter(({ id }) => globs.some((glob) => matchesGlob(id.slice("file:".length), glob)));
  }

  /** The file may have changed since the listing, so the version comes with the content. */
  async function fetch(path: string, context?: FetchContext): Promise<RawContent> {
    const segments = path.split("/");
    if (segments.some((segment) => segment === "" || segment === "." || segment === ".."))
      throw problem("NOT_FOUND", { name: path });
    const place = segments.map(encodeURIComponent).join("/");
    const file = await get(`contents/${place}?ref=${encodeURIComponent(ref)}`, context);
    const sha = String(field(file, "sha"));
    if (!/^[0-9a-f]{40,64}$/.test(sha)) throw invalid(`${path} is not a file`);
    // The API omits the content of files over a megabyte.
    const isWhole = field(file, "encoding") === "base64";
    const bytes = decodeBlob(isWhole ? file : await get(`git/blobs/${sha}`, context), sha, path);
    return { ...toDocument(path, sha), content: decodeText(bytes) ?? "" };
  }

  function decodeBlob(blob: unknown, sha: string, path: string): Buffer {
    const bytes = Buffer.from(String(field(blob, "content") ?? ""), "base64");
    const algorithm = sha.length === 40 ? "sha1" : "sha256";
    const actual = createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
    if (actual !== sha) throw invalid(`${path} did not arrive whole`);
    return bytes;
  }

  function invalid(reason: string) {
    return problem("SOURCE_INVALID", { name, reason });
  }

  return { list, fetch };
}

function toDocument(path: string, sha: string): RawDocument {
  return {
    id: `file:${path}`,
    name: basename(path),
    contentType: contentTypeOf(path),
    version: sha,
    metadata: { path: `files/${path}` },
  };
}
