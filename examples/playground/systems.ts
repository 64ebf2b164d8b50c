// The four systems of the examples, served together or measured one by one.
import type { DomainDefinition, Source, View } from "keyhole";
import { createCms } from "../cms/cms.ts";
import { createLibrary } from "../library/library.ts";
import { createOnto } from "../onto/onto.ts";
import { createWarehouse } from "../warehouse/warehouse.ts";

export interface System {
  readonly name: string;
  readonly domains: readonly DomainDefinition[];
  readonly sources: readonly Source[];
  close(): Promise<void>;
}

export function createSystems(): readonly System[] {
  const onto = createOnto();
  const cms = createCms();
  const warehouse = createWarehouse();
  return [
    { name: "onto", domains: onto.domains, sources: [], close: onto.close },
    { name: "cms", domains: [cms.domain], sources: [], close: cms.close },
    { name: "warehouse", domains: warehouse.domains, sources: [], close: warehouse.close },
    // A source ends with its gateway.
    { name: "library", domains: [], sources: [createLibrary()], close: async () => {} },
  ];
}

/**
 * Everything that a model would see on every request without Keyhole: all tools with their schemas. A domain
 * without tools lists its documents by name and description.
 */
export function listEverything(view: View): object[] {
  return [...Map.groupBy(view.entries, ({ domain }) => domain)].flatMap(([domain, entries]): object[] => {
    const tools = entries.filter(({ kind }) => kind === "tool");
    if (tools.length > 0)
      return tools.map(({ op, description, inputSchema }) => ({ name: op, description, inputSchema }));
    const shown = view.shown.filter((entry) => entry.domain === domain);
    return shown.map(({ route, name, description }) => ({ uri: route, name, description }));
  });
}
