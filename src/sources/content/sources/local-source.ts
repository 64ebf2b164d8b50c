import { hash } from "node:crypto";
import { constants } from "node:fs";
import { glob, open, realpath } from "node:fs/promises";
import { basename, extname, isAbsolute, matchesGlob, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { problem } from "../../../base/problems/problem.ts";
import { mapLimit } from "../../../base/util/map-limit.ts";
import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../../core/nouns/pipeline.ts";

/** Options of `local` of {@link contentSources}. */
export interface LocalSourceOptions {
  /** Folder to read. Links out of it are not followed. */
  readonly root: string | URL;
  /** Globs of files to read. Default: all Markdown files. */
  readonly include?: readonly string[];
  /** Globs of files to skip. Default: dotfiles and node_modules. */
  readonly exclude?: readonly string[];
  readonly name?: string;
  /** Larger files are skipped. Default: 5 MB. */
  readonly maxBytes?: number;
}

const MARKDOWN = ["**/*.md", "**/*.markdown"];
const OWN_MATTERS = ["**/.*", "**/.*/**", "**/node_modules/**"];
const READERS = 16;

/**
 * Creates a source for the files of a folder. They are read at every start; a hash is their version.
 *
 * @throws SOURCE_INVALID if a glob leaves the folder
 */
export function createLocalSource(options: LocalSourceOptions): ContentSource {
  const { include = MARKDOWN, exclude = OWN_MATTERS, maxBytes = 5 * 1024 * 1024 } = options;
  const folder = options.root instanceof URL ? fileURLToPath(options.root) : options.root;
  const name = options.name ?? `local:${folder}:${include.join(",")}`;
  const leaving = include.find((pattern) => isAbsolute(pattern) || leavesFolder(pattern));
  if (leaving !== undefined)
    throw problem("SOURCE_INVALID", { name, reason: `its glob ${leaving} leads out of the folder` });

  async function read(root: string, path: string): Promise<RawContent | undefined> {
    const bytes = await readInside(root, path, maxBytes);
    const content = bytes && decodeText(bytes);
    if (content === undefined) return undefined;
    const version = hash("sha256", bytes!);
    const document = { id: path, name: basename(path), contentType: contentTypeOf(path), version };
    return { ...document, metadata: { path }, content };
  }

  return {
    name,
    isLocal: true,
    listDocuments: async (context) => {
      const root = await realpath(folder).catch(() => {
        throw problem("SOURCE_INVALID", { name, reason: `the folder ${folder} does not exist` });
      });
      const paths = await findFiles(root, include, exclude, name, context);
      let done = 0;
      const look = async (path: string): Promise<RawDocument[]> => {
        if (context?.signal.aborted) throw problem("CANCELLED", { name });
        const found = await read(root, path);
        done += 1;
        context?.progress({ done, total: paths.length, message: path });
        if (!found) return [];
        const { content: _, ...document } = found;
        return [document];
      };
      return (await mapLimit(paths, READERS, look)).flat();
    },
    fetchContent: async (documentId) => {
      const root = await realpath(folder);
      const isChosen =
        !leavesFolder(documentId) && isMatch(documentId, include) && !isMatch(documentId, exclude);
      const document = isChosen ? await read(root, documentId) : undefined;
      if (document === undefined) throw problem("NOT_FOUND", { name: documentId });
      return document;
    },
  };
}

async function findFiles(
  root: string,
  include: readonly string[],
  exclude: readonly string[],
  name: string,
  context: FetchContext | undefined,
): Promise<string[]> {
  const paths = new Set<string>();
  for await (const match of glob([...include], { cwd: root, exclude: [...exclude] })) {
    if (context?.signal.aborted) throw problem("CANCELLED", { name });
    const path = match.split(sep).join("/");
    if (!isMatch(path, exclude)) paths.add(path);
  }
  return [...paths].sort();
}

/** Reads a file inside the folder. Undefined for anything else. */
async function readInside(root: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const target = await realpath(resolve(root, path)).catch(() => undefined);
  if (target === undefined || !target.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
  // Follows no link that has replaced the file, and does not wait for a pipe.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(target, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxBytes) return undefined;
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function leavesFolder(path: string): boolean {
  return path.split(/[/\\]/).includes("..");
}

function isMatch(path: string, globs: readonly string[]): boolean {
  return globs.some((pattern) => matchesGlob(path, pattern));
}

const EXTENSIONS: readonly (readonly [contentType: string, extensions: string])[] = [
  ["text/markdown", ".md .markdown .mdx .mdown"],
  ["application/json", ".json"],
  ["application/yaml", ".yaml .yml"],
  ["application/toml", ".toml"],
  ["application/xml", ".xml"],
  ["text/html", ".html .htm"],
  ["text/csv", ".csv"],
  ["text/tab-separated-values", ".tsv"],
  ["application/sql", ".sql"],
  ["application/typescript", ".ts .tsx .mts .cts"],
  ["application/javascript", ".js .jsx .mjs .cjs"],
  ["text/x-code", ".py .rb .go .rs .java .kt .c .h .cpp .cs .php .sh .css"],
];

/** The content type for a file name. Default: plain text. */
export function contentTypeOf(fileName: string): string {
  const extension = extname(fileName).toLowerCase();
  const row = EXTENSIONS.find(([, extensions]) => extensions.split(" ").includes(extension));
  return row?.[0] ?? "text/plain";
}

/** Decodes UTF-8 text. Undefined for binary data. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
