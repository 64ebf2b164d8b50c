import type { z } from "zod";
import type { DomainDefinition } from "../../schema/definition.ts";
import { definitionSchemas } from "../../schema/definition-schemas.ts";
import type { Domain, EntryDraft, Rule } from "../../schema/entry.ts";
import type { SourceContent } from "../../schema/source.ts";
import { lazy } from "../../util/lazy.ts";
import { readOutputSchema } from "./input-schema.ts";
import { searchConfigErrors } from "./search-config-errors.ts";
import { resourceDraft, toolDraft } from "./to-draft.ts";

const schemas = lazy(definitionSchemas);

interface CodeContent extends SourceContent {
  readonly domains: Domain[];
  readonly drafts: EntryDraft[];
  readonly errors: string[];
}

/** Reads domains written in code. Reports every wrong definition in `errors` and throws on none. */
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
    const wrong = shapeErrors(`${where}, tool ${nameOf(tool)}`, schemas().tool.safeParse(tool));
    if (wrong.length === 0) parts.drafts.push(toolDraft(tool, definition));
    parts.errors.push(...wrong);
    if (wrong.length === 0 && tool.outputSchema && !readOutputSchema(tool.outputSchema))
      parts.errors.push(`${where}, tool ${tool.name}: outputSchema: must describe an object`);
  }
  for (const resource of definition.resources ?? []) {
    const wrong = shapeErrors(
      `${where}, resource ${nameOf(resource)}`,
      schemas().resource.safeParse(resource),
    );
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
  };
}

function toRules({ name, rules }: DomainDefinition): readonly Rule[] {
  if (rules === undefined) return [];
  if (typeof rules === "string") return [{ domain: name, text: rules }];
  return Object.entries(rules).map(([category, text]) => ({ domain: name, category, text }));
}

/** Entity extractors and tools must agree in both directions; content extractors must not overlap. */
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
    (issue) => `${where}: ${issue.path.join(".") || "the definition"}: ${issue.message}`,
  );
}
