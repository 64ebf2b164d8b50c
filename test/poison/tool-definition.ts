/** A definition in short: a field is its description, or its whole schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly fields?: Readonly<Record<string, string | Readonly<Record<string, unknown>>>>;
}

/** Writes a definition as an MCP server lists it. */
export function toTool({ name, description, fields = {} }: ToolDefinition) {
  const properties = Object.entries(fields).map(([field, about]) => [
    field,
    typeof about === "string" ? { type: "string", description: about } : { type: "string", ...about },
  ]);
  return {
    name,
    description,
    inputSchema: {
      type: "object" as const,
      properties: Object.fromEntries(properties) as Record<string, object>,
    },
  };
}
