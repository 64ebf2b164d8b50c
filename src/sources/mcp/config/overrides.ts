import { z } from "zod";
import { type Problem, problem } from "../../../base/problems/problem.ts";
import { fieldsOf, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import { configMistakes } from "./config-mistakes.ts";
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

/** A choice of servers under a name, with the way they are served. */
export const profileSchema = z.strictObject({
  servers: z.array(text).optional().describe("Only these servers; without it, all"),
  surface: text.optional().describe("The surface of keyhole serve"),
  allowWrite: z.boolean().optional().describe("Whether callers may run tools that write"),
});

export type ServerOverride = z.infer<typeof serverOverrideSchema>;
/** Your word about one tool of a server: another name, description or lane, or hidden. */
export type ToolOverride = z.infer<typeof toolOverride>;
export type Profile = z.infer<typeof profileSchema>;

/**
 * Reads the override of one server.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function readOverride(overrides: unknown, server: string): ServerOverride {
  const byServer = fieldsOf(overrides);
  if (!Object.hasOwn(byServer, server)) return {};
  return read(serverOverrideSchema, byServer[server], (issue) => invalid(server, `its override: ${issue}`));
}

/**
 * Reads a profile by its name.
 *
 * @throws INVALID_INPUT if it is missing or wrong.
 */
export function readProfile(profiles: unknown, name: string): Profile {
  const byName = fieldsOf(profiles);
  const names = Object.keys(byName).join(", ") || "none";
  if (!Object.hasOwn(byName, name)) throw wrongProfile(`profile ${name} not found; profiles: ${names}`);
  return read(profileSchema, byName[name], (issue) => wrongProfile(`profile ${name}: ${issue}`));
}

function read<T extends z.ZodType>(
  schema: T,
  value: unknown,
  wrong: (issue: string) => Problem,
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw wrong(parsed.error.issues.map((issue) => configMistakes(schema, issue)).join("; "));
}

function wrongProfile(reason: string) {
  return problem("INVALID_INPUT", { operation: "profile", reason });
}

/** The servers of a block that a profile chooses. */
export function serversOf(servers: PlainObject, { servers: chosen }: Profile): PlainObject {
  if (!chosen) return servers;
  return Object.fromEntries(Object.entries(servers).filter(([name]) => chosen.includes(name)));
}

/** Names in overrides and profiles that no server has. */
export function unknownServerNames(block: unknown, names: readonly string[]): string[] {
  const { overrides, profiles } = fieldsOf(block);
  const chosen = Object.values(fieldsOf(profiles)).flatMap((profile) =>
    listOf(fieldsOf(profile).servers).map(String),
  );
  const named = new Set([...Object.keys(fieldsOf(overrides)), ...chosen]);
  return [...named].filter((name) => !names.includes(name));
}
