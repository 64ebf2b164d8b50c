import { z } from "zod";
import { OPERATIONS, type OperationName } from "../operations/operations.ts";
import { type SurfaceOptions, type SurfaceTool, surfaceTools } from "../operations/surfaces.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

const problemSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    next: z.string(),
    details: z.record(z.string(), z.unknown()),
  }),
});

const schemas = new Map<OperationName, JsonSchema>();

/** The tool of a surface that has this name. */
export function surfaceTool(name: string, options: SurfaceOptions): SurfaceTool | undefined {
  return surfaceTools(options).find((tool) => tool.name === name);
}

/** What a tool's structured content looks like, whether the operation answers or refuses. */
export function outputSchemaOf(name: string, options: SurfaceOptions): JsonSchema | undefined {
  const operation = surfaceTool(name, options)?.operation;
  if (!operation) return undefined;
  const known = schemas.get(operation) ?? toOutputSchema(operation);
  schemas.set(operation, known);
  return known;
}

/** Older revisions want an object at the root, so the alternatives stand beside its type. */
function toOutputSchema(operation: OperationName): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(z.union([OPERATIONS[operation].output, problemSchema]), {
    io: "input",
    unrepresentable: "any",
  });
  return { type: "object", ...schema };
}
