// The four systems of the examples, served together or measured one by one.
import type { DomainDefinition, Source } from "keyhole";
import { createCms } from "../cms/cms.ts";
import { createLibrary } from "../library/library.ts";
import { createOnto } from "../onto/onto.ts";
import { createWarehouse } from "../warehouse/warehouse.ts";

export interface System {
  readonly name: string;
  readonly domains: readonly DomainDefinition[];
  readonly sources: readonly Source[];
  /** Undoes every change. */
  reset(): void;
  close(): Promise<void>;
}

export const SYSTEMS = {
  onto: () => ({ ...createOnto(), sources: [] }),
  cms: () => {
    const { domain, ...cms } = createCms();
    return { ...cms, domains: [domain], sources: [] };
  },
  warehouse: () => ({ ...createWarehouse(), sources: [] }),
  // A source ends with its gateway.
  library: () => ({ domains: [], sources: [createLibrary()], reset() {}, close: async () => {} }),
};

/** Creates all systems, or one of them. */
export function createSystems(only?: keyof typeof SYSTEMS): readonly System[] {
  const names = only ? [only] : (Object.keys(SYSTEMS) as (keyof typeof SYSTEMS)[]);
  return names.map((name) => ({ name, ...SYSTEMS[name]() }));
}
