import { problem } from "../../../base/problems/problem.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import { boundaryBefore, codePointBoundary } from "../../../base/util/cut-text.ts";
import { field, isPlainObject, type PlainObject, textOf } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import type { ContentFormat, RawContent, ResourceNode } from "../../../core/nouns/pipeline.ts";

/** Options of all formats. */
export interface FormatOptions {
  /** Longest passage, in characters. Default: 1,200. */
  readonly passageChars?: number;
}

/** A document that a format reads, and the path of its node. */
export interface FormatDocument {
  readonly content: RawContent;
  readonly path: string;
  readonly options: FormatOptions;
}

/** Defines a format that turns each document into one node, with children below it. */
export function defineFormat(
  name: string,
  contentTypes: RegExp,
  toRoot: (document: FormatDocument) => ResourceNode,
): (options?: FormatOptions) => ContentFormat {
  return (options = {}) => ({
    name,
    canHandle: (contentType) => contentTypes.test(contentType),
    parse: (content, basePath) => {
      const path = resourcePath(basePath, textOf(content.metadata?.path) ?? content.name);
      return [toRoot({ content, path, options })];
    },
  });
}

interface NodeDraft {
  /** Default: that of the document. */
  readonly id?: string;
  readonly name: string;
  /** Default: that of the document. */
  readonly path?: string;
  /** Type for the filters of search segments, such as `table`. */
  readonly type: string;
  readonly content: string;
  /** Content that is not in the children. Default: all content. */
  readonly ownText?: string;
  readonly description?: string | undefined;
  /** Generated content without a written text. It ranks lower. */
  readonly isBare?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly children?: readonly ResourceNode[];
  /** Text above each passage for search, such as the parent headings. */
  readonly heading?: string;
}

const QUALITY = 50;
const BARE_QUALITY = 30;

/**
 * Creates a node of a document, with the fields that search filters and sorts by. Long content also gets passages as
 * children: a hit is a passage, and the node still holds everything.
 */
export function toNode(document: FormatDocument, draft: NodeDraft): ResourceNode {
  const { id = document.content.id, path = document.path, name, content, ownText = content } = draft;
  const { heading = name, children = [] } = draft;
  const { passageChars = PASSAGE_CHARS } = document.options;
  const isLong = ownText.length > passageChars;
  const description = toVisibleText(draft.description ?? (toSummary(ownText) || name), 500).trim();
  const searchText = isLong ? heading : `${draft.heading ? `${heading}\n` : ""}${ownText}`;
  const { path: _, ...documentFacts } = document.content.metadata ?? {};
  const metadata = {
    ...documentFacts,
    ...draft.metadata,
    resource_type: draft.type,
    path_segment: path.split("/", 1)[0],
    quality_score: draft.isBare ? BARE_QUALITY : QUALITY,
  };
  const passages = (isLong ? cutPassages(ownText, passageChars) : []).map((text, at, { length }) => ({
    id: `${id}#passage-${at + 1}`,
    name: `${toVisibleText(name, 200).trim()} (${at + 1} of ${length})`,
    path: resourcePath(path, "passages", String(at + 1)),
    content: text,
    searchText: `${heading}\n${text}`,
    description: toSummary(text) || name,
    metadata: {
      ...metadata,
      resource_type: "passage",
      passage: at + 1,
      passages: length,
      parent_path: path,
    },
  }));
  return {
    id,
    name: toVisibleText(name, 250).trim() || id,
    path,
    content,
    ...(searchText !== content && { searchText }),
    ...(description && { description }),
    metadata,
    ...(children.length + passages.length > 0 && { children: [...passages, ...children] }),
  };
}

/** Longest passage, in UTF-16 units. It suits readers and embedders. */
const PASSAGE_CHARS = 1_200;
const FEWEST_CHARS = 16;
const LOOK_AHEAD = 32;

/**
 * Cuts a text into passages of at most `maxChars`, preferably at the end of a paragraph, then of a line, a sentence or
 * a word. Joined, they equal the text. Only words longer than a passage are cut.
 */
export function cutPassages(text: string, maxChars = PASSAGE_CHARS): string[] {
  const limit = Math.max(FEWEST_CHARS, Math.floor(maxChars) || PASSAGE_CHARS);
  const passages: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const end = from + cutAt(text.slice(from, from + limit + LOOK_AHEAD), limit);
    passages.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) passages.push(text.slice(from));
  return passages;
}

/** Blanks stay with the text before them. */
const ENDS: readonly RegExp[] = [/\n[^\S\n]{0,80}\n+/g, /\n/g, /(?<=[.!?])\s+|(?<=[。！？｡])/gu, /\s+/gu];

/** The place to cut a window that is longer than the limit, to see the character after it. */
function cutAt(window: string, limit: number): number {
  for (const end of ENDS) {
    const at = lastEnd(window, end, limit);
    if (at > limit / 2) return at;
  }
  const word = lastEnd(window, /\s+/gu, limit);
  if (word > 0) return word;
  const character = boundaryBefore(window, limit);
  return character > 0 ? character : codePointBoundary(window, limit);
}

function lastEnd(window: string, pattern: RegExp, limit: number): number {
  let last = 0;
  for (const match of window.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end <= limit) last = end;
    else if (match.index > 0 && match.index <= limit) last = Math.max(last, match.index);
  }
  return last;
}

/** Parses a JSON document. Throws SOURCE_INVALID if it is not an object. */
export function readJson({ name, content }: RawContent): PlainObject {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    value = undefined;
  }
  if (isPlainObject(value)) return value;
  throw problem("SOURCE_INVALID", { name, reason: "the document is not a JSON object" });
}

/** A text or number field, cleaned and trimmed; empty if it is missing. */
export function wordsOf(holder: unknown, name: string): string {
  const value = field(holder, name);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? toVisibleText(value).trim() : "";
}

/** Joins non-empty parts. */
export function paragraphs(...parts: readonly (string | false)[]): string {
  return parts.filter(Boolean).join("\n\n");
}

/** A line `label: value` for each non-empty value. */
export function labelled(values: Readonly<Record<string, string>>): string {
  const rows = Object.entries(values).filter(([, value]) => value !== "");
  return rows.map(([label, value]) => `${label}: ${value}`).join("\n");
}

const MAX_PATH = 380;
const MAX_SEGMENT = 80;

/**
 * The path of a resource: only letters, digits, hyphens and underscores. A hash keeps it unique if a segment loses more
 * than blanks and dots, or the path is cut.
 */
export function resourcePath(...parts: readonly string[]): string {
  const raw = parts.join("/");
  const path = raw
    .split("/")
    .filter((segment) => segment.trim() !== "")
    .map(toSegment)
    .join("/");
  if (path.length <= MAX_PATH) return path;
  return `${wellFormed(path, MAX_PATH - 10).replace(/[/-]+$/, "")}-${shortHash(raw)}`;
}

/** A heading or title as a lower-case segment. */
export function slug(title: string): string {
  const words = wellFormed(title.toLowerCase(), 400).split(/[^\p{L}\p{M}\p{N}_]+/u);
  return wellFormed(words.filter(Boolean).join("-"), 60) || "part";
}

function toSegment(segment: string): string {
  const plain = segment.trim().replace(/[\s.]+/gu, "-");
  const legal = plain.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "-").toWellFormed();
  if (legal === plain && legal.length <= MAX_SEGMENT && /[^-]/.test(legal)) return legal;
  return `${wellFormed(legal, MAX_SEGMENT).replace(/-+$/, "")}-${shortHash(segment)}`.replace(/^-+/, "");
}

function wellFormed(text: string, maxChars: number): string {
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
}

function shortHash(text: string): string {
  return contentHash(text.toWellFormed()).slice(0, 8);
}
