import { contentHash } from "../../base/util/content-hash.ts";
import { type ToolRules, tailsAfter } from "../../sources/mcp/config/overrides.ts";
import type { Client, ClientMachine, ClientRule, ClientRuleFile } from "./client.ts";
import { readConfig, reasonWhy } from "./edit-config.ts";
import { readText } from "./find-configs.ts";
import { OVER_ARGUMENTS } from "./rule-dialects.ts";

/** A rule with the file that it stands in. */
interface FoundRule extends ClientRule {
  readonly file: ClientRuleFile;
}

/** The rules of a client about the tools of its servers, in the order in which its files are read. */
export interface FoundRules {
  readonly rules: readonly FoundRule[];
  /** Sentences about files that cannot be read. */
  readonly unread: readonly string[];
  /** Changes with the rules of the person's own files. */
  readonly hash: string;
}

/** Reads the rules of a client from all its files. Never throws. */
export async function findRules(client: Client, machine: ClientMachine): Promise<FoundRules> {
  const rules: FoundRule[] = [];
  const unread: string[] = [];
  const files = client.rules?.files(machine) ?? [];
  // In the home folder, the project's file may be the user's.
  for (const file of files.filter(({ path }, at) => files.findIndex((one) => one.path === path) === at)) {
    try {
      const text = await readText(file.path);
      if (text === undefined) continue;
      const value = await readConfig(file.format, text);
      rules.push(...client.rules!.read(value).map((rule) => ({ ...rule, file })));
    } catch (error) {
      unread.push(`Rules in ${file.path} are not carried over: ${reasonWhy(error)}.`);
    }
  }
  const own = rules.filter(({ file }) => file.scope === "user");
  return { rules, unread, hash: contentHash(own.map(({ as, does, but = "" }) => [as, does, but])) };
}

/** The rules of a client for one server behind Keyhole. */
interface CarriedRules {
  readonly tools: ToolRules;
  /** Sentences about rules that Keyhole cannot keep, or keeps in another way. */
  readonly notes: readonly string[];
}

/**
 * Turns a client's rules into those of a profile for one server. Never allows more than the client: a rule that denies
 * or asks may become wider, and a rule that allows spares a question only if it names the server or the tool exactly.
 */
export function carryRules(client: Client, server: string, { rules }: FoundRules): CarriedRules {
  const notes = new Set<string>();
  const { prefixes, lastCounts = false } = client.rules ?? { prefixes: () => [] };
  const concerned = rules.flatMap((rule) => {
    const tools = [...new Set(prefixes(server).flatMap((prefix) => toolsOf(rule.names, prefix)))];
    if (tools.length === 0) return [];
    const isProjects = rule.file.scope === "project";
    // A rule over arguments asks about every call, so that nothing runs unasked that the client refuses.
    const asks = rule.but === OVER_ARGUMENTS && rule.does !== "allow";
    const lost = asks
      ? undefined
      : (rule.but ?? (isProjects && rule.does === "allow" ? "it allows in one project" : undefined));
    const isExact = isExactly(rule, tools, prefixes(server));
    const at = `${rule.as} of ${rule.file.path}`;
    if (lost !== undefined) notes.add(`${at} is not carried over: ${lost}.`);
    else if (asks) notes.add(`${at} now asks about every call of the tool: ${rule.but}.`);
    else if (isProjects) notes.add(`${at} now holds in every folder.`);
    else if (rule.does === "allow" && !isExact)
      notes.add(`${at} spares no question: it allows by a pattern.`);
    return lost === undefined
      ? tools.map((tool) => ({ ...rule, ...(asks && { does: "ask" as const }), tool, isExact }))
      : [];
  });
  const ordered = lastCounts
    ? concerned
    : concerned
        .filter(({ does, isExact }) => does !== "allow" || isExact)
        .toSorted((one, other) => rank(one) - rank(other));
  // Rules before one for all tools count no more.
  const base = ordered.findLastIndex(({ tool }) => tool === "*");
  const after = ordered.slice(base + 1);
  const isDenied = base >= 0 && ordered[base]!.does === "deny";
  const allowed = after.filter(({ does }) => does !== "deny");
  const denied = after.filter(({ does }) => does === "deny").map(({ tool }) => tool);
  for (const { tool, as, file } of lastCounts ? allowed : [])
    if (denied.some((pattern) => isIn(pattern, tool)))
      notes.add(`${as} of ${file.path} is not carried over: another rule denies it.`);
  const asks = new Map<string, "always" | "never">();
  for (const { tool, does, isExact } of ordered.slice(Math.max(base, 0))) {
    if (does === "deny" || (does === "allow" && !isExact)) continue;
    if (does === "ask") for (const name of asks.keys()) if (isIn(tool, name)) asks.delete(name);
    asks.set(tool, does === "ask" ? "always" : "never");
  }
  const isOff = isDenied && allowed.length === 0;
  return {
    tools: {
      ...(isOff && { disabled: true }),
      ...(isDenied && !isOff && { includeTools: allowed.map(({ tool }) => tool) }),
      ...(denied.length > 0 && { excludeTools: [...new Set(denied)] }),
      ...(asks.size > 0 && !isOff && { askTools: Object.fromEntries(asks) }),
    },
    notes: [...notes],
  };
}

/** The names and patterns of tools of a server that a rule means. */
function toolsOf(names: readonly string[], prefix: string): string[] {
  // Claude Code's `mcp__github` stands for the whole server.
  const tools = names
    .flatMap((name) => (`${name}__` === prefix ? ["*"] : tailsAfter(name, prefix)))
    .filter((tool) => tool !== "");
  return tools.includes("*") ? ["*"] : tools;
}

/** Whether a rule names a server or its tools without a pattern that may also fit others. */
function isExactly({ names }: ClientRule, tools: readonly string[], prefixes: readonly string[]): boolean {
  return (
    names.every((name) => prefixes.some((prefix) => name.startsWith(prefix) || `${name}__` === prefix)) &&
    tools.every((tool) => tool === "*" || !/[*?]/.test(tool))
  );
}

function rank({ does }: ClientRule): number {
  return ["allow", "ask", "deny"].indexOf(does);
}

function isIn(pattern: string, tool: string): boolean {
  return tailsAfter(pattern, tool).includes("");
}
