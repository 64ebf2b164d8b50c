import { problem } from "../../../base/problems/problem.ts";
import type { Secret } from "../../../base/safety/known-secrets.ts";
import { field, listOf, textOf } from "../../../base/util/plain-object.ts";
import type { ContentSource, FetchContext, RawDocument } from "../../../core/nouns/pipeline.ts";
import {
  arrayIn,
  type ContentHttpOptions,
  collectPages,
  createHeaderAuth,
  createHttpClient,
} from "./http-client.ts";

/** Options of `clickUp` of {@link contentSources}. */
export interface ClickUpSourceOptions extends ContentHttpOptions {
  /** The workspace, called a team in older parts of the API. */
  readonly workspaceId: string;
  /** A personal token (`pk_…`), or `Bearer …` of an OAuth app. */
  readonly token: Secret;
  /** Kinds to read. Default: documents. */
  readonly kinds?: readonly ClickUpKind[];
  /** Spaces whose lists and tasks are read. Default: all spaces. */
  readonly spaceIds?: readonly string[];
  /** Lists to read, instead of all lists of the spaces. */
  readonly listIds?: readonly string[];
  /** Whether closed tasks are read. Default: true. */
  readonly includeClosed?: boolean;
  readonly name?: string;
}

/** Kinds of content that `contentSources.clickUp` reads. */
export type ClickUpKind = "docs" | "tasks" | "lists";

const DOCS_PER_PAGE = 100;

/**
 * Creates a source for documents, tasks and lists of a ClickUp workspace.
 *
 * @throws SOURCE_INVALID if `baseUrl` is not a URL
 */
export function createClickUpSource(options: ClickUpSourceOptions): ContentSource {
  const { workspaceId, token, kinds = ["docs"], includeClosed = true } = options;
  const name = options.name ?? `clickup:${workspaceId}:${kinds.join(",")}`;
  const auth = createHeaderAuth(name, "authorization", token);
  const { json: get } = createHttpClient({ name, auth, baseUrl: "https://api.clickup.com/api" }, options);
  const workspace = `v3/workspaces/${encodeURIComponent(workspaceId)}`;

  async function listDocs(context?: FetchContext): Promise<RawDocument[]> {
    const fetchPage = async (cursor: string, counting: FetchContext) => {
      const query = { limit: DOCS_PER_PAGE, next_cursor: cursor || undefined };
      const value = await get(`${workspace}/docs`, query, counting);
      return { found: arrayIn(value, "docs", name), next: textOf(field(value, "next_cursor")) };
    };
    const docs = await collectPages<unknown, string>(name, "", fetchPage, context);
    return docs.filter((doc) => field(doc, "deleted") !== true).map((doc) => toDocument("doc", doc));
  }

  async function listLists(context?: FetchContext): Promise<unknown[]> {
    const { listIds, spaceIds } = options;
    const lists: unknown[] = [];
    for (const id of listIds ?? []) lists.push(await get(`v2/list/${encodeURIComponent(id)}`, {}, context));
    if (listIds) return lists;
    for (const space of spaceIds ?? (await listSpaces(context))) {
      const path = `v2/space/${encodeURIComponent(space)}`;
      const folders = arrayIn(await get(`${path}/folder`, {}, context), "folders", name);
      lists.push(...folders.flatMap((folder) => listOf(field(folder, "lists"))));
      lists.push(...arrayIn(await get(`${path}/list`, {}, context), "lists", name));
      context?.progress({ done: lists.length, message: `${name}: lists` });
    }
    return lists;
  }

  async function listSpaces(context?: FetchContext): Promise<string[]> {
    const value = await get(`v2/team/${encodeURIComponent(workspaceId)}/space`, {}, context);
    return arrayIn(value, "spaces", name).map((space) => String(field(space, "id")));
  }

  /** Pages are numbered; the API marks the last one. */
  async function listTasks(listId: string, context?: FetchContext): Promise<RawDocument[]> {
    const path = `v2/list/${encodeURIComponent(listId)}/task`;
    const fetchPage = async (page: number, counting: FetchContext) => {
      const query = { page, subtasks: "true", include_closed: String(includeClosed) };
      const value = await get(path, query, counting);
      const items = arrayIn(value, "tasks", name);
      const isLast = field(value, "last_page") === true || items.length === 0;
      return { found: items, next: isLast ? undefined : page + 1 };
    };
    const tasks = await collectPages<unknown, number>(name, 0, fetchPage, context);
    return tasks.map((task) => toDocument("task", task));
  }

  return {
    name,
    listDocuments: async (context) => {
      const documents = kinds.includes("docs") ? await listDocs(context) : [];
      const lists = kinds.some((kind) => kind !== "docs") ? await listLists(context) : [];
      if (kinds.includes("lists")) documents.push(...lists.map((list) => toDocument("list", list)));
      if (kinds.includes("tasks")) {
        for (const list of lists) documents.push(...(await listTasks(String(field(list, "id")), context)));
      }
      return uniqueById(documents);
    },
    fetchContent: async (documentId, context) => {
      const [, kind, id = ""] = /^(doc|task|list):([\w-]{1,100})$/.exec(documentId) ?? [];
      if (kind === "doc") {
        const doc = await get(`${workspace}/docs/${id}`, {}, context);
        const query = { max_page_depth: -1, content_format: "text/md" };
        const pages = await get(`${workspace}/docs/${id}/pages`, query, context);
        const content = {
          name: field(doc, "name"),
          pages: Array.isArray(pages) ? pages : field(pages, "pages"),
        };
        return { ...toDocument(kind, doc), content: JSON.stringify(content) };
      }
      if (kind !== "task" && kind !== "list") throw problem("NOT_FOUND", { name: documentId });
      const query = kind === "task" ? { include_markdown_description: "true" } : {};
      const value = await get(`v2/${kind}/${id}`, query, context);
      return { ...toDocument(kind, value), content: JSON.stringify(value) };
    },
  };
}

/** A document's date does not change with its pages: only tasks have a version, the others are always fetched. */
function toDocument(kind: "doc" | "task" | "list", value: unknown): RawDocument {
  const id = String(field(value, "id"));
  const version = kind === "task" && textOf(field(value, "date_updated"));
  const url = kind === "task" && textOf(field(value, "url"));
  return {
    id: `${kind}:${id}`,
    name: textOf(field(value, "name")) ?? id,
    contentType: `clickup-${kind}`,
    ...(version && { version }),
    metadata: { path: `${kind}s/${id}`, ...(url && { url }) },
  };
}

/** A task may be in several lists. */
function uniqueById(documents: readonly RawDocument[]): RawDocument[] {
  return [...new Map(documents.map((document) => [document.id, document])).values()];
}
