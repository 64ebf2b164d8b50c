import { createHash } from "node:crypto";
import { basename, matchesGlob } from "node:path";
import type { FetchContext, RawContent, RawDocument } from "../../../schema/pipeline.ts";
import { problem } from "../../../schema/problem.ts";
import { field, listOf } from "../../../util/fields.ts";
import { contentTypeOf, decodeText } from "./content-type.ts";
import type { HttpClient } from "./http-client.ts";

export interface GitHubFilesOptions {
  readonly ref?: string | undefined;
  readonly globs?: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_TREES = 20_000;
const SYMBOLIC_LINK = "120000";

/** Reads the files of a repository: the tree as the listing, blobs as content. */
export function createGitHubFiles(
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
