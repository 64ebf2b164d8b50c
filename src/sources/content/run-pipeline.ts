import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft } from "../../schema/entry.ts";
import type { ContentPipeline, RawContent, ResourceNode } from "../../schema/pipeline.ts";
import { toSummary } from "../../util/to-summary.ts";

/** Turns the documents of a pipeline's source into resources of a domain. */
export async function runPipeline(pipeline: ContentPipeline, domain: string): Promise<EntryDraft[]> {
  const documents = await pipeline.source.listDocuments();
  const contents = await Promise.all(documents.map((document) => pipeline.source.fetchContent(document.id)));
  return contents
    .flatMap((content) => flatten(parse(content, pipeline)))
    .map((node) => toDraft(node, domain, pipeline.scopes ?? []));
}

function parse(content: RawContent, { formats, basePath = "" }: ContentPipeline): readonly ResourceNode[] {
  const format = formats.find((candidate) => candidate.canHandle(content.contentType));
  return format?.parse(content, basePath) ?? [];
}

function flatten(nodes: readonly ResourceNode[]): ResourceNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}

function toDraft(node: ResourceNode, domain: string, scopes: readonly string[]): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${domain}://resources/${node.path}`,
    domain,
    name: node.name,
    description: node.description ?? (toSummary(node.content) || node.name),
    scopes,
    metadata: node.metadata ?? {},
    content: node.searchText ?? node.content,
    load: async () => node.content,
  };
}
