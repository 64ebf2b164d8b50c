import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft } from "../../schema/entry.ts";
import type { ContentPipeline, RawContent, ResourceNode } from "../../schema/pipeline.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { toSummary } from "../../util/to-summary.ts";
import type { HeldDocument } from "./held-content.ts";

export interface PipelinePlace {
  readonly id: string;
  readonly domain: string;
  readonly pipeline: ContentPipeline;
  /** Called with a sentence about each document that is left out. */
  onFailure(detail: string): void;
}

/**
 * Turns documents into resources of a domain. Unchanged documents keep their drafts, which saves work in the
 * catalog. Only documents that cannot be parsed are left out.
 */
export function createToDrafts(place: PipelinePlace): (documents: readonly HeldDocument[]) => EntryDraft[] {
  const made = new WeakMap<RawContent, readonly EntryDraft[]>();

  function draftsOf({ raw, indexedAt }: HeldDocument): readonly EntryDraft[] {
    const known = made.get(raw);
    if (known) return known;
    try {
      const drafts = flatten(parse(raw, place.pipeline)).map((node) => toDraft(node, indexedAt, place));
      made.set(raw, drafts);
      return drafts;
    } catch (error) {
      place.onFailure(`${place.id}, ${raw.name}: ${reasonOf(error)}`);
      return [];
    }
  }

  return (documents) => uniqueByRoute(documents.flatMap(draftsOf), place.onFailure);
}

function parse(content: RawContent, { formats, basePath = "" }: ContentPipeline): readonly ResourceNode[] {
  const format = formats.find((candidate) => candidate.canHandle(content.contentType));
  return format?.parse(content, basePath) ?? [];
}

function flatten(nodes: readonly ResourceNode[]): ResourceNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}

function toDraft(node: ResourceNode, indexedAt: number, { id, domain, pipeline }: PipelinePlace): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${domain}://resources/${node.path}`,
    domain,
    name: node.name,
    description: node.description ?? (toSummary(node.content) || node.name),
    scopes: pipeline.scopes ?? [],
    outside: pipeline.source.isLocal !== true,
    metadata: {
      path_segment: node.path.split("/", 1)[0],
      ...node.metadata,
      source_id: id,
      indexed_at: indexedAt,
    },
    content: node.searchText ?? node.content,
    load: async () => node.content,
  };
}

/** Keeps the first of several documents with the same route. */
function uniqueByRoute(drafts: readonly EntryDraft[], onFailure: (detail: string) => void): EntryDraft[] {
  const known = new Set<string>();
  return drafts.filter(({ route = "" }) => {
    if (!known.has(route)) return known.add(route);
    onFailure(`${route}: another document has this route`);
    return false;
  });
}
