import type {
  DomainDefinition,
  InputSchema,
  ResourceDefinition,
  ToolDefinition,
} from "../../schema/definition.ts";

/** Defines a tool. `inputSchema` types the params of `execute`. See {@link defineDomain}. */
export function defineTool<const S extends InputSchema | undefined = undefined>(
  tool: ToolDefinition<S>,
): ToolDefinition<S> {
  return tool;
}

/** Defines a resource: content that is loaded on demand. See {@link defineDomain}. */
export function defineResource(resource: ResourceDefinition): ResourceDefinition {
  return resource;
}

/** Defines a domain: a named branch of knowledge with its tools and resources. See {@link defineTool}. */
export function defineDomain(domain: DomainDefinition): DomainDefinition {
  return domain;
}
