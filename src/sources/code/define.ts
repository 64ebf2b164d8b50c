import type {
  DomainDefinition,
  InputSchema,
  ResourceDefinition,
  ToolDefinition,
} from "../../schema/definition.ts";

/** Defines a tool; `execute` gets its params typed by `inputSchema`. */
export function defineTool<const S extends InputSchema | undefined = undefined>(
  tool: ToolDefinition<S>,
): ToolDefinition<S> {
  return tool;
}

/** Defines a resource: content loaded on demand. */
export function defineResource(resource: ResourceDefinition): ResourceDefinition {
  return resource;
}

/** Defines a domain: a named branch of knowledge with its tools and resources. */
export function defineDomain(domain: DomainDefinition): DomainDefinition {
  return domain;
}
