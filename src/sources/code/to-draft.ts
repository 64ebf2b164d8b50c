import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { AnyTool, DomainDefinition, ResourceDefinition } from "../../schema/definition.ts";
import type { EntryDraft, Visibility } from "../../schema/entry.ts";
import { readInputSchema, readOutputSchema } from "./input-schema.ts";

/** Makes a tool's draft of its definition, which must have passed `definitionSchemas().tool`. */
export function toolDraft(tool: AnyTool, domain: DomainDefinition): EntryDraft {
  const extractors = new Map(Object.entries(domain.entityExtractors ?? {}));
  const outputSchema = tool.outputSchema && readOutputSchema(tool.outputSchema);
  const extractEntities = extractors.get(tool.name) ?? extractors.get(tool.op ?? "");
  return {
    kind: "tool",
    ...common(tool, domain),
    ...readInputSchema(tool.inputSchema),
    ...(tool.route !== undefined && { route: tool.route }),
    ...(tool.op !== undefined && { op: tool.op }),
    ...(tool.lane && { lane: tool.lane }),
    defaultLane: "read",
    riskLevel: tool.riskLevel ?? "safe",
    requiresConfirmation: tool.requiresConfirmation ?? false,
    related: tool.relatedTools ?? [],
    guidance: tool.guidance ?? [],
    examples: tool.examples ?? [],
    notes: tool.notes ?? [],
    metadata: {},
    extraction: tool.extraction ?? null,
    ...(extractEntities && { extractEntities }),
    ...(tool.policy && { policy: tool.policy }),
    ...(outputSchema && { presentation: { outputSchema } }),
    ...(tool.timeoutMs && { timeoutMs: tool.timeoutMs }),
    call: async (params, context) => tool.execute(params, context),
    ...(tool.undo && { undo: (params, result) => tool.undo?.(params, result) }),
    ...(tool.dryRun && { dryRun: async (params, context) => tool.dryRun?.(params, context) }),
  };
}

/** Makes a resource's draft of its definition. */
export function resourceDraft(resource: ResourceDefinition, domain: DomainDefinition): EntryDraft {
  return {
    kind: "resource",
    route: resource.route,
    ...BARE_ENTRY,
    ...common(resource, domain),
    metadata: resource.metadata ?? {},
    ...(resource.content !== undefined && { content: resource.content }),
    load: async (_params, context) => resource.fetch(context),
  };
}

function common(definition: AnyTool | ResourceDefinition, domain: DomainDefinition) {
  return {
    domain: domain.name,
    name: definition.name,
    description: definition.description,
    visibility: toVisibility(definition),
    scopes: definition.requiredScopes ?? [],
    tags: definition.tags ?? [],
    aliases: definition.aliases ?? [],
    phrases: definition.phrases ?? [],
    ...(definition.category && { category: definition.category }),
  };
}

function toVisibility({ visibility, searchable }: AnyTool | ResourceDefinition): Visibility {
  if (visibility) return visibility;
  if (searchable === undefined) return "listed";
  return searchable ? "entry" : "hidden";
}
