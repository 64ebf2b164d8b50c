import { problem } from "../../../base/problems/problem.ts";
import type { Secret } from "../../../base/safety/known-secrets.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import { field, textOf } from "../../../base/util/plain-object.ts";
import type { ContentSource, FetchContext, RawDocument } from "../../../core/nouns/pipeline.ts";
import {
  arrayIn,
  type ContentHttpOptions,
  collectPages,
  createHeaderAuth,
  createHttpClient,
} from "./http-client.ts";

/** Options of `qase` of {@link contentSources}. */
export interface QaseSourceOptions extends ContentHttpOptions {
  /** Code of the project, such as `DEMO`. */
  readonly project: string;
  readonly token: Secret;
  readonly name?: string;
}

const PER_PAGE = 100;
/** A suite for test cases without one. */
const NO_SUITE = { id: 0, title: "Without a suite" };

/**
 * Creates a source for the test suites of a Qase project: one document per suite.
 *
 * @throws SOURCE_INVALID if `baseUrl` is not a URL
 */
export function createQaseSource(options: QaseSourceOptions): ContentSource {
  const { project, token } = options;
  const name = options.name ?? `qase:${project}`;
  const auth = createHeaderAuth(name, "token", token);
  const client = createHttpClient({ name, auth, baseUrl: "https://api.qase.io/v1" }, options);
  const code = encodeURIComponent(project);

  /** Reads pages by offset up to the API's count. */
  async function all(path: string, context?: FetchContext, query = {}) {
    const fetchPage = async (offset: number, counting: FetchContext) => {
      const page = { ...query, limit: PER_PAGE, offset };
      const result = resultOf(await client.json(`${path}/${code}`, page, counting));
      const entities = arrayIn(result, "entities", name);
      const total = Number(field(result, "filtered") ?? field(result, "total") ?? 0);
      const next = offset + entities.length;
      if (entities.length === 0 && next < total)
        throw problem("SOURCE_INVALID", { name, reason: `it listed ${next} of ${total}` });
      return { found: entities, next: next < total ? next : undefined };
    };
    return collectPages<unknown, number>(name, 0, fetchPage, context);
  }

  function resultOf(value: unknown): unknown {
    if (field(value, "status") === true) return field(value, "result");
    const reason = textOf(field(value, "errorMessage")) ?? "it answered without a status";
    throw problem("SOURCE_INVALID", { name, reason });
  }

  return {
    name,
    /** A suite's date does not change with its cases, so the version covers both. */
    listDocuments: async (context) => {
      const suites = await all("suite", context);
      const cases = Map.groupBy(await all("case", context), suiteOf);
      const loose = cases.has(0) ? [NO_SUITE] : [];
      return [...suites, ...loose].map((suite) => toDocument(suite, cases.get(idOf(suite)) ?? []));
    },
    fetchContent: async (documentId, context) => {
      const id = /^suite:(\d{1,12})$/.exec(documentId)?.[1];
      if (id === undefined) throw problem("NOT_FOUND", { name: documentId });
      const suite = id === "0" ? NO_SUITE : resultOf(await client.json(`suite/${code}/${id}`, {}, context));
      const candidates = await all("case", context, id === "0" ? {} : { suite_id: id });
      const cases = candidates.filter((one) => suiteOf(one) === Number(id));
      const content = JSON.stringify({ ...Object(suite), cases });
      return { ...toDocument(suite, cases), content };
    },
  };
}

function toDocument(suite: unknown, cases: readonly unknown[]): RawDocument {
  const id = idOf(suite);
  return {
    id: `suite:${id}`,
    name: textOf(field(suite, "title")) ?? `Suite ${id}`,
    contentType: "qase-suite",
    version: contentHash([suite, cases]),
    metadata: { path: `suites/${id}`, suite_id: id },
  };
}

function suiteOf(one: unknown): number {
  return Number(field(one, "suite_id") ?? 0);
}

function idOf(suite: unknown): number {
  return Number(field(suite, "id"));
}
