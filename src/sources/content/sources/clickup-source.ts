import { problem } from "../../../base/problems/problem.ts";
import type { Secret } from "../../../base/safety/known-secrets.ts";
import { field, listOf, textOf } from "../../../base/util/plain-object.ts";
import type { ContentSource, FetchContext, RawDocument } from "../../../core/nouns/pipeline.ts";
import { type ContentHttpOptions, collectPages, createHeaderAuth, createHttpClient } from "./http-client.ts";

/** Options of `clickUp` of {@link contentSources}. */
export interface ClickUpSourceOptions extends ContentHttpOptions {
  /** The workspace. Older parts of the API call it a team. */
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

/** Kinds of content that {@link createClickUpSource} reads. */
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
  const baseUrl = options.baseUrl ?? "https://api.clickup.com/api";
  const client = createHttpClient(name, createHeaderAuth(name, "authorization", token), {
    ...options,
    baseUrl,
  });
  const workspace = `v3/workspaces/${encodeURIComponent(workspaceId)}`;

  const get = async (path: string, query: Query = {}, context?: FetchContext, done = 0) =>
    (await client.json(path, { query, context, done })).value;

  async function listDocs(context?: FetchContext): Promise<RawDocument[]> {
    const fetchPage = async (cursor: string, done: number) => {
      const query = { limit: DOCS_PER_PAGE, next_cursor: cursor || undefined };
      const value = await get(`${workspace}/docs`, query, context, done);
      return { found: arrayOf(value, "docs", name), next: textOf(field(value, "next_cursor")) };
    };
    const docs = await collectPages<unknown, string>(name, "", fetchPage, context);
    return docs.filter((doc) => field(doc, "deleted") !== true).map(toDoc);
  }

  async function listLists(context?: FetchContext): Promise<unknown[]> {
    if (options.listIds) {
      const lists: unknown[] = [];
      for (const id of options.listIds)
        lists.push(await get(`v2/list/${encodeURIComponent(id)}`, {}, context));
      return lists;
    }
    const spaces = options.spaceIds ?? (await listSpaces(context));
    const lists: unknown[] = [];
    for (const space of spaces) {
      const path = `v2/space/${encodeURIComponent(space)}`;
      const folders = arrayOf(await get(`${path}/folder`, {}, context), "folders", name);
      lists.push(...folders.flatMap((folder) => listOf(field(folder, "lists"))));
      lists.push(...arrayOf(await get(`${path}/list`, {}, context), "lists", name));
      context?.progress({ done: lists.length, message: `${name}: lists` });
    }
    return lists;
  }

  async function listSpaces(context?: FetchContext): Promise<string[]> {
    const value = await get(`v2/team/${encodeURIComponent(workspaceId)}/space`, {}, context);
    return arrayOf(value, "spaces", name).map((space) => String(field(space, "id")));
  }

  /** Pages are numbered; the API marks the last one. */
  async function listTasks(listId: string, context?: FetchContext): Promise<RawDocument[]> {
    const fetchPage = async (page: number, done: number) => {
      const flags = { subtasks: "true", include_closed: String(includeClosed) };
      const value = await get(
        `v2/list/${encodeURIComponent(listId)}/task`,
        { page, ...flags },
        context,
        done,
      );
      const found = arrayOf(value, "tasks", name);
      const isLast = field(value, "last_page") === true || found.length === 0;
      return { found, next: isLast ? undefined : page + 1 };
    };
    return (await collectPages<unknown, number>(name, 0, fetchPage, context)).map(toTask);
  }

  return {
    name,
    listDocuments: async (context) => {
      const documents = kinds.includes("docs") ? await listDocs(context) : [];
      const lists = kinds.some((kind) => kind !== "docs") ? await listLists(context) : [];
      if (kinds.includes("lists")) documents.push(...lists.map(toList));
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
        return { ...toDoc(doc), content: JSON.stringify(content) };
      }
      if (kind === "task") {
        const task = await get(`v2/task/${id}`, { include_markdown_description: "true" }, context);
        return { ...toTask(task), content: JSON.stringify(task) };
      }
      if (kind !== "list") throw problem("NOT_FOUND", { name: documentId });
      const list = await get(`v2/list/${id}`, {}, context);
      return { ...toList(list), content: JSON.stringify(list) };
    },
  };
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A document's date does not change with its pages, so it has no version and is always fetched. */
function toDoc(doc: unknown): RawDocument {
  return toDocument("doc", doc, {});
}

function toTask(task: unknown): RawDocument {
  const updated = textOf(field(task, "date_updated"));
  const url = textOf(field(task, "url"));
  return { ...toDocument("task", task, { ...(url && { url }) }), ...(updated && { version: updated }) };
}

function toList(list: unknown): RawDocument {
  return toDocument("list", list, {});
}

function toDocument(
  kind: "doc" | "task" | "list",
  value: unknown,
  facts: Record<string, unknown>,
): RawDocument {
  const id = String(field(value, "id"));
  return {
    id: `${kind}:${id}`,
    name: textOf(field(value, "name")) ?? id,
    contentType: `clickup-${kind}`,
    metadata: { path: `${kind}s/${id}`, ...facts },
  };
}

/** A task may be in several lists. */
function uniqueById(documents: readonly RawDocument[]): RawDocument[] {
  return [...new Map(documents.map((document) => [document.id, document])).values()];
}

function arrayOf(value: unknown, key: string, name: string): readonly unknown[] {
  const list = field(value, key);
  if (Array.isArray(list)) return list;
  throw problem("SOURCE_INVALID", { name, reason: `its answer has no ${key}` });
}
