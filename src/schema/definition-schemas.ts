import { z } from "zod";
import type { InputSchema } from "./definition.ts";

/** Makes the schemas of definitions: most gateways of the program have no domain in code, and need none of them. */
export function definitionSchemas() {
  const words = z.array(z.string().min(1)).optional();
  const guidanceSchema = z.object({
    route: z.string().min(1),
    prose: z.string().min(1),
    params: z.record(z.string(), z.unknown()).optional(),
  });

  const schemaSchema = z.custom<InputSchema>(
    (value) => value instanceof Object,
    "must be a zod or JSON schema",
  );

  const entryFields = {
    name: z.string().min(1).max(256),
    description: z.string().trim().min(1),
    visibility: z.enum(["entry", "listed", "hidden"]).optional(),
    searchable: z.boolean().optional(),
    requiredScopes: words,
    category: z.string().min(1).optional(),
    tags: words,
    aliases: words,
    phrases: words,
  };

  const hasOneVisibility = (entry: { readonly visibility?: unknown; readonly searchable?: unknown }) =>
    entry.visibility === undefined || entry.searchable === undefined;
  const TWICE = "give visibility or searchable, not both";

  /** Checks a tool definition at run time, because definitions also come from plain JavaScript. */
  const tool = z
    .object({
      ...entryFields,
      route: z.string().optional(),
      op: z.string().optional(),
      inputSchema: schemaSchema.optional(),
      outputSchema: schemaSchema.optional(),
      lane: z.enum(["read", "write", "destructive"]).optional(),
      riskLevel: z.enum(["safe", "moderate", "destructive"]).optional(),
      requiresConfirmation: z.boolean().optional(),
      relatedTools: words,
      extraction: z
        .object({
          path: z.string().min(1),
          type: z.string().min(1),
          nameField: z.string().min(1),
          idField: z.string().min(1).optional(),
          isArray: z.boolean().optional(),
        })
        .nullish(),
      examples: z
        .array(z.object({ args: z.record(z.string(), z.unknown()), note: z.string().optional() }))
        .optional(),
      policy: z.object({ do: words, dont: words, edge_cases: words }).optional(),
      notes: words,
      guidance: z.array(guidanceSchema).optional(),
      timeoutMs: z.number().int().positive().optional(),
      execute: z.custom((value) => typeof value === "function", "must be a function"),
      dryRun: z.custom((value) => typeof value === "function", "must be a function").optional(),
      undo: z.custom((value) => typeof value === "function", "must be a function").optional(),
    })
    .refine(hasOneVisibility, TWICE);

  /** Checks a resource definition at run time. */
  const resource = z
    .object({
      ...entryFields,
      route: z.string(),
      content: z.string().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
      fetch: z.custom((value) => typeof value === "function", "must be a function"),
    })
    .refine(hasOneVisibility, TWICE);

  const pipelineSchema = z.object({
    source: z.object({ name: z.string().min(1) }).loose(),
    formats: z.array(z.object({ name: z.string().min(1) }).loose()).min(1),
    basePath: z.string().optional(),
    cacheTtlMs: z.number().int().nonnegative().optional(),
    scopes: words,
  });

  /** Checks a domain definition at run time, without its tools and resources. */
  const domain = z.object({
    name: z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]*$/i,
        "must be letters, digits, hyphens and underscores, starting with a letter",
      ),
    description: z.string().trim().min(1),
    requiredScopes: words,
    rules: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
    extractors: z.array(pipelineSchema).optional(),
    readBeforeWrite: z.enum(["warn", "refuse", "off"]).optional(),
    searchConfig: z
      .object({
        queryBy: z.string().optional(),
        weights: z.string().optional(),
        segments: z
          .array(
            z.object({
              name: z.string(),
              filter: z.string(),
              limit: z.number().int().positive(),
              priority: z.number(),
            }),
          )
          .optional(),
      })
      .optional(),
  });
  return { tool, resource, domain };
}
