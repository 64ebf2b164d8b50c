import { z } from "zod";
import { readPart } from "../../../base/json-schema/zod-mistakes.ts";
import { problem } from "../../../base/problems/problem.ts";
import { fieldsOf, isPlainObject, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import { ASKS } from "../../../core/nouns/question.ts";
import { FIELD_ALIASES, invalid, isSwitchedOff, nameList, toolAsks } from "./server-config.ts";

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

/** A person's changes to a server and its tools. They win over the server's definitions, and stay when those change. */
export const serverOverrideSchema = z.strictObject({
  description: text.optional().describe("The description of the server's domain"),
  scopes: z.array(text).optional().describe("Scopes that a caller needs to see anything of the server"),
  tools: z
    .record(z.string(), toolOverride)
    .optional()
    .describe("Overrides of tools, by the server's names for them"),
});

export type ServerOverride = z.infer<typeof serverOverrideSchema>;
/** A person's changes to one tool: name, description, lane, or hidden. */
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

/** The part of a server that callers of a profile get, instead of the same fields of the server's entry. */
const serverRulesSchema = z.strictObject({
  disabled: z.boolean().optional().describe("Whether the server is off in this profile"),
  includeTools: nameList
    .optional()
    .describe("Only these tools. Both lists of the server's entry count no more"),
  excludeTools: nameList
    .optional()
    .describe("Not these tools. Both lists of the server's entry count no more"),
  askTools: toolAsks
    .optional()
    .describe("Whether you are asked before a call of these tools, in place of the server's entry"),
  timeoutMs: z.int().positive().optional().describe("Time limit for one call, in milliseconds"),
  aliases: nameList.optional().describe("Further names of the server, in addresses and searches"),
  ask: z.enum(ASKS).optional().describe("The calls of its tools that ask you first"),
});

const served = {
  surface: text.optional().describe("The surface of keyhole serve"),
  allowWrite: z
    .boolean()
    .optional()
    .describe("true: its callers may run tools that write; false: nobody may, whatever their own rights are"),
};
const listed = z.strictObject({
  servers: z.array(text).describe("Only these servers, with their own rules"),
  ...served,
});
const ruled = z.strictObject({
  servers: z
    .record(text, serverRulesSchema)
    .optional()
    .describe("Only these servers, each with the rules of this profile; without it, all servers"),
  ...served,
});

/** A named choice of servers, and how they are served. */
export const profileSchema = z.union([ruled, listed]);

export type Profile = z.infer<typeof profileSchema>;
export type ServerRules = z.infer<typeof serverRulesSchema>;
/** Rules that select tools of a server. */
export type ToolRules = Pick<ServerRules, "disabled" | "includeTools" | "excludeTools" | "askTools">;

/**
 * Reads a profile by name.
 *
 * @throws INVALID_INPUT if it is missing or wrong.
 */
export function readProfile(profiles: unknown, name: string): Profile {
  const byName = fieldsOf(profiles);
  const names = Object.keys(byName).join(", ") || "none";
  if (!Object.hasOwn(byName, name)) throw wrongProfile(`profile ${name} not found; profiles: ${names}`);
  const profile = byName[name];
  const wrong = (mistakes: string) => wrongProfile(`profile ${name}: ${mistakes}`);
  const isList = Array.isArray(fieldsOf(profile).servers);
  return isList ? readPart(listed, profile, wrong) : readPart(ruled, profile, wrong);
}

function wrongProfile(reason: string) {
  return problem("INVALID_INPUT", { operation: "profile", reason });
}

/** The rules of a profile by server. Undefined if the profile has all servers unchanged. */
export function rulesOf({ servers }: Profile): Readonly<Record<string, ServerRules>> | undefined {
  return Array.isArray(servers) ? Object.fromEntries(servers.map((server) => [server, {}])) : servers;
}

/** The servers of a profile, with its rules instead of their own. */
export function serversOf(servers: PlainObject, profile: Profile): PlainObject {
  const rules = rulesOf(profile);
  if (!rules) return servers;
  const chosen = Object.entries(servers).filter(([server]) => Object.hasOwn(rules, server));
  return Object.fromEntries(chosen.map(([server, config]) => [server, withRules(config, rules[server]!)]));
}

/** The servers with every tool that their own entry or any profile allows. Ignores invalid profiles. */
export function serversOfAll(servers: PlainObject, profiles: unknown): PlainObject {
  const all = Object.values(fieldsOf(profiles)).flatMap(
    (profile) => profileSchema.safeParse(profile).data ?? [],
  );
  const widened = Object.entries(servers).map(([server, config]) => {
    const chosen = all.flatMap((profile) => Object.entries(rulesOf(profile) ?? {}));
    const rules = chosen.flatMap(([name, rule]) =>
      name === server ? toolRules(withRules(config, rule)) : [],
    );
    return [server, rules.length === 0 ? config : withRules(config, widest([toolRules(config), ...rules]))];
  });
  return Object.fromEntries(widened);
}

const LISTS = ["includeTools", "excludeTools"];
/** Every spelling of the two lists in a config. */
const SPELLINGS = [
  ...LISTS,
  "tools",
  ...Object.entries(FIELD_ALIASES).flatMap(([alias, field]) => (LISTS.includes(field) ? [alias] : [])),
];

/** Whether a server's entry names tools to allow or to forbid. */
export function hasToolLists(config: unknown): boolean {
  return SPELLINGS.some((spelling) => Object.hasOwn(fieldsOf(config), spelling));
}

/** A server's entry with rules of a profile instead of its own. */
export function withRules(config: unknown, rules: ServerRules): unknown {
  if (!isPlainObject(config)) return config;
  const replaced = [
    ...(rules.includeTools || rules.excludeTools ? SPELLINGS : []),
    ...(rules.disabled === undefined ? [] : ["disabled", "enabled"]),
  ];
  const others = Object.entries(config).filter(([field]) => !replaced.includes(field));
  return { ...Object.fromEntries(others), ...rules };
}

/** The tools that a server's entry allows. */
export function toolRules(config: unknown): ToolRules {
  const { includeTools, enabledTools, tools, excludeTools, disabledTools, askTools } = fieldsOf(config);
  const chosen = listOf(tools).includes("*") ? undefined : tools;
  const included = [includeTools, enabledTools, chosen].filter(Array.isArray);
  return strictest([
    {
      disabled: isSwitchedOff(config),
      excludeTools: [excludeTools, disabledTools].flatMap(listOf).map(String),
      ...(isPlainObject(askTools) && { askTools: askTools as ToolAsks }),
    },
    ...included.map((list) => ({ includeTools: list.map(String) })),
  ]);
}

/** Allows what any of the rules allows. */
function widest(rules: readonly ToolRules[]): ToolRules {
  const on = rules.filter(({ disabled }) => !disabled);
  const named = on.flatMap(({ includeTools = [], excludeTools = [] }) =>
    includeTools.filter((tool) => !excludeTools.includes(tool)),
  );
  const [open, ...others] = on.filter(({ includeTools }) => !includeTools);
  if (!open) return { disabled: on.length === 0, includeTools: [...new Set(named)] };
  const isExcluded = (tool: string) =>
    !named.includes(tool) && others.every(({ excludeTools }) => excludeTools?.includes(tool));
  return { disabled: false, excludeTools: (open.excludeTools ?? []).filter(isExcluded) };
}

type ToolAsks = NonNullable<ToolRules["askTools"]>;

/** Allows what all of the rules allow, and asks if any of them asks. */
export function strictest(rules: readonly ToolRules[]): ToolRules {
  const included = rules.flatMap(({ includeTools }) => (includeTools ? [includeTools] : []));
  const excluded = rules.flatMap(({ excludeTools }) => excludeTools ?? []);
  const [first, ...others] = included;
  const asked = rules.map(({ askTools = {} }) => askTools);
  const names = new Set(asked.flatMap(Object.keys));
  const asks = [...names].map((name) => [
    name,
    strictestAsk(asked.map((askTools) => askFor(name, askTools))),
  ]);
  return {
    disabled: rules.some(({ disabled }) => disabled),
    ...(first && { includeTools: first.filter((tool) => others.every((list) => listsTool(list, tool))) }),
    ...(excluded.length > 0 && { excludeTools: [...new Set(excluded)] }),
    ...(asks.length > 0 && { askTools: Object.fromEntries(asks) }),
  };
}

/** Which calls of a tool ask: by its name, otherwise by the strictest pattern. Undefined without a match. */
export function askFor(tool: string, askTools: ToolAsks = {}): ToolAsks[string] | undefined {
  if (Object.hasOwn(askTools, tool)) return askTools[tool];
  return strictestAsk(
    Object.keys(askTools).map((name) => (listsTool([name], tool) ? askTools[name] : undefined)),
  );
}

function strictestAsk(asks: readonly (ToolAsks[string] | undefined)[]): ToolAsks[string] | undefined {
  return ASKS.findLast((ask) => asks.includes(ask));
}

/** Whether a list contains a tool, by name or pattern. */
export function listsTool(list: readonly string[], tool: string): boolean {
  return list.some((name) => name === tool || (/[*?]/.test(name) && tailsAfter(name, tool).includes("")));
}

/**
 * The patterns for the remaining name after `text`, if the whole name has to match `pattern`. `*` stands for any
 * characters and `?` for one. An empty pattern among them means that `text` itself matches.
 */
export function tailsAfter(pattern: string, text: string): string[] {
  let tails = withoutStars(pattern);
  for (const character of text.split("")) {
    const next = tails.flatMap((tail) => {
      if (tail.startsWith("*")) return [tail];
      return tail.startsWith("?") || tail[0] === character ? [tail.slice(1)] : [];
    });
    tails = [...new Set(next.flatMap(withoutStars))];
  }
  return tails;
}

/** The pattern, and what remains of it if its leading stars match nothing. */
function withoutStars(pattern: string): string[] {
  return pattern.startsWith("*") ? [pattern, ...withoutStars(pattern.slice(1))] : [pattern];
}
