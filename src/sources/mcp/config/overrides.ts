import { z } from "zod";
import { readPart } from "../../../base/json-schema/zod-mistakes.ts";
import { fieldsOf } from "../../../base/util/plain-object.ts";
import { invalid } from "./server-config.ts";

const text = z.string().min(1).max(4_096);

const toolOverride = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/)
    .optional()
    .describe("Another name for the tool"),
  description: text.optional().describe("Replaces the server's description of the tool"),
  lane: z.enum(["read", "write", "destructive"]).optional().describe("The lane, whatever the server says"),
  hidden: z.boolean().optional().describe("Never found by a search, still callable by its address"),
});

/** A person's words about a server and its tools. They win over those of the server, and stay when it changes. */
export const serverOverrideSchema = z.strictObject({
  description: text.optional().describe("The description of the server's domain"),
  scopes: z.array(text).optional().describe("Scopes that a caller needs to see anything of the server"),
  tools: z
    .record(z.string(), toolOverride)
    .optional()
    .describe("Overrides of tools, by the server's names for them"),
});

export type ServerOverride = z.infer<typeof serverOverrideSchema>;
export type ToolOverride = z.infer<typeof toolOverride>;

/**
 * Reads the override of one server.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function readOverride(overrides: unknown, server: string): ServerOverride {
  const byServer = fieldsOf(overrides);
  if (!Object.hasOwn(byServer, server)) return {};
  return readPart(serverOverrideSchema, byServer[server], (issue) =>
    invalid(server, `its override: ${issue}`),
  );
}

/** Names in overrides and profiles that no server has. */
export function unknownServerNames(block: unknown, names: readonly string[]): string[] {
  const { overrides, profiles } = fieldsOf(block);
  const chosen = Object.values(fieldsOf(profiles)).flatMap((profile) => {
    const { servers } = fieldsOf(profile);
    return Array.isArray(servers) ? servers.map(String) : Object.keys(fieldsOf(servers));
  });
  const named = new Set([...Object.keys(fieldsOf(overrides)), ...chosen]);
  return [...named].filter((name) => !names.includes(name));
}
