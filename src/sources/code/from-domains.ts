import type { z } from "zod";
import { issueReason } from "../../base/json-schema/zod-mistakes.ts";
import { lazy } from "../../base/util/lazy.ts";
import { nearest } from "../../base/util/nearest.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import {
  type AnyTool,
  type DomainDefinition,
  definitionSchemas,
  type ResourceDefinition,
} from "../../core/nouns/definition.ts";
import type { Domain, EntryDraft, Rule } from "../../core/nouns/entry.ts";
import { FACT_KEYS, QUERY_FIELDS, readNames, readSegmentFilter } from "../../core/nouns/search-config.ts";
import type { SourceContent } from "../../core/nouns/source.ts";
import type { Visibility } from "../../search/port/search-index.ts";
import { readInputSchema, readOutputSchema } from "./input-schema.ts";

const schemas = lazy(definitionSchemas);

interface CodeContent extends SourceContent {
  readonly domains: Domain[];
  readonly drafts: EntryDraft[];
  readonly errors: string[];
}

/** Reads domains written in code. Never throws: lists every wrong definition in `errors`. */
export function fromDomains(definitions: readonly DomainDefinition[]): SourceContent {
  const parts: CodeContent = { domains: [], drafts: [], errors: [] };
  for (const definition of definitions) readDomain(definition, parts);
  return parts;
}

function readDomain(definition: DomainDefinition, parts: CodeContent): void {
  const where = `domain ${definition?.name ?? "(without a name)"}`;
  const errors = shapeErrors(where, schemas().domain.safeParse(definition));
  parts.errors.push(...errors);
  if (errors.length > 0) return;

  parts.domains.push(toDomain(definition));
  parts.errors.push(...extractorErrors(where, definition));
  parts.errors.push(...searchConfigErrors(definition).map((error) => `${where}: searchConfig: ${error}`));
  for (const tool of definition.tools ?? []) {
    const here = `${where}, tool ${nameOf(tool)}`;
    const wrong = shapeErrors(here, schemas().tool.safeParse(tool));
    parts.errors.push(...wrong);
    if (wrong.length > 0) continue;
    parts.drafts.push(toolDraft(tool, definition));
    if (tool.outputSchema && !readOutputSchema(tool.outputSchema))
      parts.errors.push(`${here}: outputSchema: must describe an object`);
  }
  for (const resource of definition.resources ?? []) {
    const here = `${where}, resource ${nameOf(resource)}`;
    const wrong = shapeErrors(here, schemas().resource.safeParse(resource));
    if (wrong.length === 0) parts.drafts.push(resourceDraft(resource, definition));
    parts.errors.push(...wrong);
  }
}

function toDomain(definition: DomainDefinition): Domain {
  return {
    name: definition.name,
    description: definition.description,
    scopes: definition.requiredScopes ?? [],
    rules: toRules(definition),
    ...(definition.searchConfig && { searchConfig: definition.searchConfig }),
    ...(definition.readBeforeWrite && { readBeforeWrite: definition.readBeforeWrite }),
    ...(definition.ask && { ask: definition.ask }),
  };
}

function toRules({ name, rules }: DomainDefinition): readonly Rule[] {
  if (rules === undefined) return [];
  if (typeof rules === "string") return [{ domain: name, text: rules }];
  return Object.entries(rules).map(([category, text]) => ({ domain: name, category, text }));
}

/** An entity extractor needs a tool without an extraction schema. Content extractors must not overlap. */
function extractorErrors(where: string, definition: DomainDefinition): string[] {
  const tools = definition.tools ?? [];
  const errors: string[] = [];
  for (const key of Object.keys(definition.entityExtractors ?? {})) {
    const tool = tools.find((candidate) => candidate?.name === key || candidate?.op === key);
    if (!tool) errors.push(`${where}: entityExtractors has ${key}, which is not a tool of the domain`);
    else if (tool.extraction)
      errors.push(`${where}, tool ${key}: has both an extraction schema and an entity extractor`);
  }
  const ids = (definition.extractors ?? []).map(
    ({ source, basePath = "" }) => `${source.name} at "${basePath}"`,
  );
  const doubled = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...errors, ...[...doubled].map((id) => `${where}: more than one extractor reads ${id}`)];
}

function nameOf(definition: { readonly name?: unknown } | undefined): string {
  return typeof definition?.name === "string" ? definition.name : "(without a name)";
}

function shapeErrors(where: string, parsed: z.ZodSafeParseResult<unknown>): string[] {
  if (parsed.success) return [];
  return parsed.error.issues.map(
    (issue) =>
      `${where}: ${issue.path.join(".") || "the definition"}: ${issue.code === "custom" ? issue.message : issueReason(issue)}`,
  );
}

/** Lists everything in a domain's search config that search cannot follow. */
function searchConfigErrors(definition: DomainDefinition): string[] {
  const { queryBy, weights, segments = [] } = definition.searchConfig ?? {};
  return [
    ...readNames(queryBy).flatMap((field) =>
      QUERY_FIELDS.some((name) => name === field) ? [] : `queryBy names ${unknown(field, QUERY_FIELDS)}`,
    ),
    ...weightErrors(queryBy, weights),
    ...segments.flatMap(({ name, filter }) =>
      filterErrors(filter, definition).map((error) => `segment ${name}: ${error}`),
    ),
  ];
}

function weightErrors(queryBy: string | undefined, weights: string | undefined): string[] {
  if (weights === undefined) return [];
  if (queryBy === undefined) return ["weights need queryBy, which says the fields that they are for"];
  const [fields, given] = [readNames(queryBy), readNames(weights)];
  const wrong = given.filter((weight) => !(Number(weight) > 0));
  return [
    ...(fields.length === given.length
      ? []
      : [`weights has ${given.length} numbers, and queryBy has ${fields.length} fields`]),
    ...wrong.map((weight) => `the weight ${JSON.stringify(weight)} is not a number above 0`),
  ];
}

function filterErrors(filter: string, { resources = [] }: DomainDefinition): string[] {
  const read = readSegmentFilter(filter);
  if (!read) return [`the filter ${filter} is not of the form key:=value, such as resource_type:=column`];
  const keys = new Set([...FACT_KEYS, ...resources.flatMap(({ metadata = {} }) => Object.keys(metadata))]);
  return keys.has(read.key) ? [] : [`the filter names ${unknown(read.key, keys)}`];
}

function unknown(name: string, known: Iterable<string>): string {
  const [near] = nearest(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${[...known].join(", ")}`;
  return `${name || "nothing"}, which is not known; ${hint}`;
}

const LANE_OF_RISK = { safe: "read", moderate: "write", destructive: "destructive" } as const;

/** Creates the draft of a tool whose definition has passed `definitionSchemas().tool`. */
function toolDraft(tool: AnyTool, domain: DomainDefinition): EntryDraft {
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
    ...(tool.riskLevel && { leastLane: LANE_OF_RISK[tool.riskLevel] }),
    requiresConfirmation: tool.requiresConfirmation ?? false,
    ...(tool.asksItself && { asksItself: true }),
    ...(tool.look && { look: tool.look }),
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

function resourceDraft(resource: ResourceDefinition, domain: DomainDefinition): EntryDraft {
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
