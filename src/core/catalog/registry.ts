import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { Entry, Example, Lane } from "../nouns/entry.ts";

/** One tool of a registry. */
export interface RegistryOp {
  readonly op: string;
  readonly route: string;
  readonly tool_name: string;
  readonly description: string;
  readonly parameters_schema: JsonSchema;
  readonly group: string;
  readonly kind: "read" | "write";
  readonly lane: Lane;
  readonly entity?: string;
  readonly action?: string;
  readonly examples?: readonly Example[];
  readonly policy?: Readonly<Record<string, unknown>>;
}

/** The tools of a catalog as JSON for other programs, by op, with schemas and version. */
export interface Registry {
  readonly format: 1;
  /** Version of the catalog. */
  readonly registry_version: string;
  readonly ops: Readonly<Record<string, RegistryOp>>;
}

export function toRegistry(catalog: {
  readonly version: string;
  readonly entries: readonly Entry[];
}): Registry {
  const records = catalog.entries.map(toRecord).filter((record) => record !== undefined);
  const ops = JSON.parse(JSON.stringify(Object.fromEntries(records.map((record) => [record.op, record]))));
  return { format: 1, registry_version: catalog.version, ops };
}

function toRecord(entry: Entry): RegistryOp | undefined {
  if (entry.kind !== "tool") return undefined;
  const [, ...path] = entry.op.split(".");
  const { edgeCases, ...policy } = entry.policy ?? {};
  return {
    op: entry.op,
    route: entry.route,
    tool_name: entry.name,
    description: entry.description,
    parameters_schema: { ...entry.inputSchema },
    group: entry.domain,
    kind: entry.lane === "read" ? "read" : "write",
    lane: entry.lane,
    ...(path.length > 1 && { entity: path[0]!, action: path.at(-1)! }),
    ...(entry.examples.length > 0 && { examples: entry.examples }),
    ...(entry.policy && { policy: { ...policy, ...(edgeCases && { edge_cases: edgeCases }) } }),
  };
}
