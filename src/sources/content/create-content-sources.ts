import type { DomainDefinition } from "../../schema/definition.ts";
import type { FetchContext } from "../../schema/pipeline.ts";
import type { Source } from "../../schema/source.ts";
import { type ContentSourceOptions, createContentSource } from "./content-source.ts";

type SharedOptions = Pick<ContentSourceOptions, "store" | "clock" | "random" | "onFailure"> & {
  onProgress(id: string, ...update: Parameters<FetchContext["progress"]>): void;
};

/** Creates one source for each pipeline of the domains. */
export function createContentSources(domains: readonly DomainDefinition[], shared: SharedOptions): Source[] {
  return domains.flatMap(({ name: domain, extractors = [] }) =>
    extractors.map((pipeline) => {
      const { source, basePath = "" } = pipeline;
      const plain = `${domain}/${source.name}`;
      // The base path, unlike the position, keeps an id stable when pipelines are reordered.
      const isNameTaken = extractors.filter((other) => other.source.name === source.name).length > 1;
      const id = isNameTaken ? `${plain}@${basePath}` : plain;
      return createContentSource({
        ...shared,
        id,
        domain,
        pipeline,
        onProgress: (update) => shared.onProgress(id, update),
      });
    }),
  );
}
