import type { DomainDefinition } from "../../schema/definition.ts";
import type { EntryDraft } from "../../schema/entry.ts";
import type { SourceContent } from "../../schema/source.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { runPipeline } from "./run-pipeline.ts";

/** The documents of the domains' extractors. One that fails takes only its own content with it. */
export async function loadContent(
  domains: readonly DomainDefinition[],
  onFailure: (detail: string) => void,
): Promise<SourceContent> {
  const pipelines = domains.flatMap((domain) =>
    (domain.extractors ?? []).map((pipeline) => ({ domain, pipeline })),
  );
  const loaded = await Promise.all(
    pipelines.map(({ domain, pipeline }) =>
      runPipeline(pipeline, domain.name).catch((error: unknown) => {
        onFailure(`${domain.name}, ${pipeline.source.name}: ${reasonOf(error)}`);
        return [];
      }),
    ),
  );
  return { domains: [], drafts: uniqueByRoute(loaded.flat(), onFailure) };
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
