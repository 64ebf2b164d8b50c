import type { Tool } from "@modelcontextprotocol/client";
import { z } from "zod";
import { isFields } from "../../util/fields.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { toVisibleText } from "../../util/visible-text.ts";

/** A page of tools whose definitions are not read yet. */
export const toolPageSchema = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

/** Reads each definition on its own: one that cannot be read affects no other. Loads the SDK on first use. */
export async function readTools(definitions: readonly unknown[], warnings: string[]): Promise<Tool[]> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const standard = specTypeSchemas.Tool["~standard"];
  const tools: Tool[] = [];
  for (const definition of definitions) {
    try {
      const read = await standard.validate(definition);
      if (read.issues) warnings.push(leftOut(definition, read.issues[0]?.message ?? "it is malformed"));
      else tools.push(read.value);
    } catch (error) {
      // The definition is nested too deeply. The catalog lists the tool with the reason if that is its input.
      const bare = toBareTool(definition);
      if (bare) tools.push(bare);
      else warnings.push(leftOut(definition, reasonOf(error)));
    }
  }
  return tools;
}

function toBareTool(definition: unknown): Tool | undefined {
  if (!isFields(definition) || typeof definition.name !== "string") return undefined;
  const { name, inputSchema } = definition;
  return isFields(inputSchema) ? { name, inputSchema: inputSchema as Tool["inputSchema"] } : undefined;
}

function leftOut(definition: unknown, reason: string): string {
  const name =
    isFields(definition) && typeof definition.name === "string" ? definition.name : "without a name";
  return toVisibleText(`the tool ${name} is left out: ${reason}`, 300);
}
