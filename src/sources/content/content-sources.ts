import type { DomainDefinition } from "../../schema/definition.ts";
import type { FetchContext } from "../../schema/pipeline.ts";
import type { Source } from "../../schema/source.ts";
import { type ContentSourceOptions, createContentSource } from "./content-source.ts";

type Surroundings = Pick<ContentSourceOptions, "store" | "clock" | "random" | "onFailure"> & {
  onFailed(id: string, reason: string): void;
  onProgress(id: string, ...update: Parameters<FetchContext["progress"]>): void;
};

/** One source for each pipeline of the domains. */
export function contentSources(domains: readonly DomainDefinition[], around: Surroundings): Source[] {
  return domains.flatMap(({ name: domain, extractors = [] }) =>
    extractors.map((pipeline) => {
      const { source, basePath = "" } = pipeline;
      const plain = `${domain}/${source.name}`;
      // Those that share a name are told apart by where they are put, whatever their order.
      const shared = extractors.filter((other) => other.source.name === source.name).length > 1;
      const id = shared ? `${plain}@${basePath}` : plain;
      return createContentSource({
        ...around,
        id,
        domain,
        pipeline,
        onProgress: (update) => around.onProgress(id, update),
        onFailed: (reason) => around.onFailed(id, reason),
      });
    }),
  );
}
