import type { RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { toSummary } from "../../../util/to-summary.ts";
import { toVisibleText } from "../../../util/visible-text.ts";
import { cutPassages, PASSAGE_CHARS } from "./cut-passages.ts";
import { resourcePath } from "./resource-path.ts";

/** Options of all formats. */
export interface FormatOptions {
  /** Longest passage, in characters. Default: 1,200. */
  readonly passageChars?: number;
}

export interface NodeDraft {
  readonly id: string;
  readonly name: string;
  readonly path: string;
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
  /** Text that search sees above each passage, such as the parent headings. */
  readonly heading?: string;
}

const QUALITY = 50;
const BARE_QUALITY = 30;

/**
 * Creates a node with the fields that search filters and sorts by. Long content gets passages as further children:
 * a hit is a passage, and the node still holds everything.
 */
export function toNode(draft: NodeDraft, { passageChars = PASSAGE_CHARS }: FormatOptions = {}): ResourceNode {
  const { id, name, path, content, ownText = content, heading = name, children = [] } = draft;
  const isLong = ownText.length > passageChars;
  const passages = isLong ? toPassages(draft, cutPassages(ownText, passageChars), heading) : [];
  const description = toVisibleText(draft.description ?? (toSummary(ownText) || name), 500).trim();
  const shownOver = draft.heading ? `${heading}\n` : "";
  const searchText = isLong ? heading : `${shownOver}${ownText}`;
  return {
    id,
    name: toVisibleText(name, 250).trim() || id,
    path,
    content,
    ...(searchText !== content && { searchText }),
    ...(description && { description }),
    metadata: { ...draft.metadata, ...factsOf(draft) },
    ...(children.length + passages.length > 0 && { children: [...passages, ...children] }),
  };
}

function toPassages(draft: NodeDraft, texts: readonly string[], heading: string): ResourceNode[] {
  return texts.map((text, index) => {
    const number = index + 1;
    return {
      id: `${draft.id}#passage-${number}`,
      name: `${toVisibleText(draft.name, 200).trim()} (${number} of ${texts.length})`,
      path: resourcePath(draft.path, "passages", String(number)),
      content: text,
      searchText: `${heading}\n${text}`,
      description: toSummary(text) || draft.name,
      metadata: {
        ...draft.metadata,
        ...factsOf({ ...draft, type: "passage" }),
        passage: number,
        passages: texts.length,
        parent_path: draft.path,
      },
    };
  });
}

function factsOf({ type, path, isBare = false }: NodeDraft) {
  return {
    resource_type: type,
    path_segment: path.split("/")[0] ?? "",
    quality_score: isBare ? BARE_QUALITY : QUALITY,
  };
}

/** Returns the path of a document: the base path, then the path from its source or its name. */
export function documentPath({ metadata, name }: RawContent, basePath: string): string {
  const place = metadata?.path;
  return resourcePath(basePath, typeof place === "string" && place !== "" ? place : name);
}

/** Returns the metadata of a document, such as its URL. */
export function documentFacts({ metadata = {} }: RawContent): Readonly<Record<string, unknown>> {
  const { path: _, ...facts } = metadata;
  return facts;
}
