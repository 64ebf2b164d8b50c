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

/** Kinds of content that {@link createGitHubSource} reads. */
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
  const baseUrl = options.baseUrl ?? "https://api.github.com";
  const client = createHttpClient(name, auth, { ...options, baseUrl });
  const repository = `repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
  const files = createGitHubFiles(client, repository, name, { ref, globs: options.files, headers: HEADERS });

  /** Newest first: the limit drops the oldest. */
  async function list(path: string, query: Record<string, string | undefined>, context?: FetchContext) {
    let room = limit;
    return collectPages<unknown, string>(
      name,
      `${repository}/${path}`,
      async (url, done) => {
        const isFirst = done === 0 && !url.includes("?");
        const request = { headers: HEADERS, context, done };
        const { value, headers } = await client.json(
          url,
          isFirst ? { ...request, query: { ...query, per_page: PER_PAGE } } : request,
        );
        if (!Array.isArray(value)) throw problem("SOURCE_INVALID", { name, reason: "it listed no array" });
        const found = value.slice(0, room);
        room -= found.length;
        return { found, next: room > 0 ? linkNext(headers.get("link")) : undefined };
      },
      context,
    );
  }

  /** Reads a list that belongs to one document, such as its comments. */
  async function all(path: string, context?: FetchContext): Promise<unknown[]> {
    return collectPages<unknown, string>(name, `${repository}/${path}?per_page=${PER_PAGE}`, async (url) => {
      const { value, headers } = await client.json(url, { headers: HEADERS, context });
      return { found: listOf(value), next: linkNext(headers.get("link")) };
    });
  }

  const one = async (path: string, context?: FetchContext) =>
    (await client.json(`${repository}/${path}`, { headers: HEADERS, context })).value;

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
    const shown = changed.map((file) => pick(file, ["filename", "status", "additions", "deletions"]));
    const content = { ...pick(value, DISCUSSION_FIELDS), comments, files: shown };
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
        return { ...toCommit(value), content: JSON.stringify(toCommitContent(value)) };
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

function toDiscussion(contentType: "pr" | "issue", value: unknown): RawDocument {
  const number = String(field(value, "number"));
  const updated = String(field(value, "updated_at"));
  const url = field(value, "html_url");
  const label = contentType === "pr" ? "PR" : "Issue";
  const path = `${contentType}s/${number}`;
  return {
    id: `${contentType}:${number}`,
    name: `${label} #${number}`,
    contentType,
    version: updated,
    metadata: { path, url },
  };
}

function toCommit(value: unknown): RawDocument {
  const sha = String(field(value, "sha"));
  const metadata = { path: `commits/${sha.slice(0, 12)}`, url: field(value, "html_url") };
  return {
    id: `commit:${sha}`,
    name: `Commit ${sha.slice(0, 7)}`,
    contentType: "commit",
    version: sha,
    metadata,
  };
}

function toCommitContent(value: unknown): unknown {
  const files = listOf(field(value, "files"));
  const shown = files.map((file) => pick(file, ["filename", "status", "additions", "deletions"]));
  return { ...pick(value, ["sha", "commit", "html_url", "stats"]), files: shown };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, field(value, name)]));
}

/** Returns the URL of the next page from a `Link` header (RFC 8288). */
function linkNext(header: string | null): string | undefined {
  for (const part of (header ?? "").slice(0, 8_000).split(/,(?=\s*<)/)) {
    const close = part.indexOf(">");
    const open = part.indexOf("<");
    if (open !== -1 && close > open && /;\s*rel="?next\b/i.test(part.slice(close))) {
      return part.slice(open + 1, close);
    }
  }
  return undefined;
}

interface GitHubFilesOptions {
  readonly ref?: string | undefined;
  readonly globs?: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_TREES = 20_000;
const SYMBOLIC_LINK = "120000";

/** Reads the files of a repository: the tree as the listing, blobs as content. */
function createGitHubFiles(
  client: HttpClient,
  repository: string,
  name: string,
  { ref = "HEAD", globs = ["**/*.md"], headers }: GitHubFilesOptions,
) {
  const get = async (path: string, context?: FetchContext, done = 0) =>
    (await client.json(`${repository}/${path}`, { headers, context, done })).value;

  /** Walks a tree that is too large for one answer folder by folder. */
  async function walk(context: FetchContext | undefined): Promise<RawDocument[]> {
    const whole = await get(`git/trees/${encodeURIComponent(ref)}?recursive=1`, context);
    if (field(whole, "truncated") !== true) return toDocuments(whole, "");
    const documents: RawDocument[] = [];
    const waiting: { sha: string; prefix: string }[] = [{ sha: ref, prefix: "" }];
    for (let read = 0; waiting.length > 0; read++) {
      if (read > MAX_TREES) throw invalid("it has too many folders");
      const { sha, prefix } = waiting.pop()!;
      const tree = await get(`git/trees/${encodeURIComponent(sha)}`, context, documents.length);
      if (field(tree, "truncated") === true)
        throw invalid(`its folder ${prefix || "/"} is too large to be listed`);
      documents.push(...toDocuments(tree, prefix));
      for (const entry of listOf(field(tree, "tree"))) {
        if (field(entry, "type") !== "tree") continue;
        waiting.push({
          sha: String(field(entry, "sha")),
          prefix: `${prefix}${String(field(entry, "path"))}/`,
        });
      }
      context?.progress({ done: documents.length, message: `${name}: listing` });
    }
    return documents;
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

  return { list: walk, fetch };
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
