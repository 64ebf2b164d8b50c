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
  /** Something that is left out, and why. */
  onFailure(detail: string): void;
}

/**
 * Makes of documents the resources of a domain. What has not changed keeps its drafts, so that the catalog
 * need not look at it again. A document that cannot be parsed is left out alone.
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
    metadata: {
      path_segment: node.path.split("/", 1)[0],
      ...node.metadata,
      source_id: id,
      indexed_at: indexedAt,
    },
    content: node.content,
    load: async () => node.content,
  };
}

/** Of two documents with the same route the first stays. */
function uniqueByRoute(drafts: readonly EntryDraft[], onFailure: (detail: string) => void): EntryDraft[] {
  const known = new Set<string>();
  return drafts.filter(({ route = "" }) => {
    if (!known.has(route)) return known.add(route);
    onFailure(`${route}: another document has this route`);
    return false;
  });
}
