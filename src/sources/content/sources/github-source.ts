import type { Secret } from "../../../net/secret.ts";
import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../../schema/pipeline.ts";
import { problem } from "../../../schema/problem.ts";
import { field, listOf } from "../../../util/fields.ts";
import { collectPages } from "./collect-pages.ts";
import { createGitHubFiles } from "./github-files.ts";
import { createHeaderAuth, NO_AUTH } from "./http-auth.ts";
import { createHttpClient, type HttpOptions } from "./http-client.ts";
import { linkNext } from "./link-next.ts";

/** Options of `github` of {@link contentSources}. */
export interface GitHubSourceOptions extends HttpOptions {
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
