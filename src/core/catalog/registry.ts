import { readFile } from "node:fs/promises";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import type { Entry, Policy } from "../nouns/entry.ts";

const recordSchema = lazy(() =>
  z.object({
    op: z.string(),
    route: z.string(),
    tool_name: z.string(),
    description: z.string(),
    parameters_schema: z.record(z.string(), z.unknown()),
    group: z.string(),
    kind: z.enum(["read", "write"]),
    lane: z.enum(["read", "write", "destructive"]),
    entity: z.string().optional(),
    action: z.string().optional(),
    examples: z.array(z.unknown()).optional(),
    policy: z.record(z.string(), z.unknown()).optional(),
  }),
);

const registrySchema = lazy(() =>
  z.object({
    format: z.literal(1),
    /** The version of its catalog. */
    registry_version: z.string(),
    /** Hash of `ops`, which reveals damage. */
    checksum: z.string(),
    ops: z.record(z.string(), recordSchema()),
  }),
);

/** One tool of a registry file. */
export type RegistryOp = z.output<ReturnType<typeof recordSchema>>;
/** The tools of a catalog as a file: op to entry, with schemas and version. */
export type Registry = z.output<ReturnType<typeof registrySchema>>;

/** Makes the registry of a catalog's tools. See {@link writeRegistry}. */
export function toRegistry(catalog: {
  readonly version: string;
  readonly entries: readonly Entry[];
}): Registry {
  const records = catalog.entries.map(toRecord).filter((record) => record !== undefined);
  const ops = JSON.parse(JSON.stringify(Object.fromEntries(records.map((record) => [record.op, record]))));
  return { format: 1, registry_version: catalog.version, checksum: contentHash(ops), ops };
}

/**
 * Writes a registry file atomically. See {@link readRegistry}.
 *
 * @example
 * ```ts
 * import { createGateway, readRegistry, writeRegistry } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * await writeRegistry("registry.json", (await gateway.report()).registry);
 * console.assert((await readRegistry("registry.json")).registry_version === gateway.version);
 * await gateway.close();
 * ```
 */
export async function writeRegistry(path: string, registry: Registry): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(registry, null, 2)}\n`);
}

/**
 * Reads a registry file. See {@link writeRegistry}.
 *
 * @throws REGISTRY_INVALID if the file is missing, damaged or of another format
 * @example
 * ```ts
 * import { isProblem, readRegistry } from "keyhole";
 *
 * const reason = await readRegistry("no-such-file.json").catch((error) => error);
 * console.assert(isProblem(reason) && reason.code === "REGISTRY_INVALID");
 * ```
 */
export async function readRegistry(path: string): Promise<Registry> {
  const refuse = (reason: string) => problem("REGISTRY_INVALID", { path, reason });
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw refuse(error.message);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw refuse("it is not JSON");
  }
  const parsed = registrySchema().safeParse(content);
  if (!parsed.success)
    throw refuse(
      parsed.error.issues.map(({ path: at, message }) => `${at.join(".")}: ${message}`).join("; "),
    );
  if (contentHash(parsed.data.ops) !== parsed.data.checksum)
    throw refuse("its content does not fit its checksum");
  return parsed.data;
}

function toRecord(entry: Entry): RegistryOp | undefined {
  if (entry.kind !== "tool") return undefined;
  const [, ...path] = entry.op.split(".");
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
    ...(entry.examples.length > 0 && { examples: [...entry.examples] }),
    ...(entry.policy && { policy: policyJson(entry.policy) }),
  };
}

function policyJson({ edgeCases, ...policy }: Policy): Record<string, unknown> {
  return { ...policy, ...(edgeCases && { edge_cases: edgeCases }) };
}
