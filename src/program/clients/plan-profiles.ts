import { isDeepStrictEqual } from "node:util";
import { contentHash } from "../../base/util/content-hash.ts";
import { field, fieldsOf, isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import {
  hasToolLists,
  readProfile,
  rulesOf,
  type ServerRules,
  strictest,
  type ToolRules,
  toolRules,
  withRules,
} from "../../sources/mcp/config/profiles.ts";
import { type McpServerConfig, readServerConfig } from "../../sources/mcp/config/server-config.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import { notFound } from "../terminal/define-command.ts";
import type { ConfigEdit } from "./formats/format.ts";
import { type FoundServer, mapTexts } from "./read-server.ts";

/** A server of a client's profile. */
export interface ProfileServer {
  /** Its name in Keyhole's config: that of the first client that brought this program. */
  readonly name: string;
  /** The server as Keyhole's config has it, with the rules of the profile. */
  readonly config: McpServerConfig;
  readonly aliases: readonly string[];
  readonly notes: readonly string[];
}

/** A server that moves behind Keyhole. */
export interface MovedServer extends ProfileServer {
  /** Whether a file of the project named it, which others may have written. */
  readonly isOfProject: boolean;
}

/** A server in a file of the client that Keyhole can run. */
export interface MovableServer extends FoundServer {
  readonly config: McpServerConfig;
  readonly isOfProject: boolean;
}

/** The part of Keyhole's config that earlier connections of a client made. */
export interface EarlierConnections {
  readonly profiles: readonly string[];
  /** The servers of a client that was connected before there were profiles. */
  readonly servers: readonly string[];
}

export interface ProfileOptions {
  readonly client: string;
  readonly home: string;
  /** Profiles and servers of Keyhole's config that the client gets beside its own, by name. */
  readonly sharing: readonly string[];
  /** Shares every server of Keyhole's config. */
  readonly sharesAll: boolean;
  readonly earlier: EarlierConnections;
}

/**
 * Plans the profiles of a client in Keyhole's own config: the servers of each, with exactly the tools that the client's
 * own files allow. A program that Keyhole's config has already is not added again, whatever its name.
 *
 * @param wanted The servers of each profile.
 * @throws INVALID_INPUT if a name to share is unknown.
 */
export function planProfiles(
  own: unknown,
  wanted: ReadonlyMap<string, readonly MovableServer[]>,
  options: ProfileOptions,
) {
  const { client, home, earlier } = options;
  const present = fieldsOf(field(own, "mcpServers"));
  const profiles = fieldsOf(field(own, "profiles"));
  const servers = new Map<string, unknown>(Object.entries(present));
  const programs = new Map([...servers].map(([name, config]) => [name, programKey(config, home)]));
  const names = new Map<string, string>();
  const edits: ConfigEdit[] = [];
  const moved: MovedServer[] = [];
  const shared = new Map<string, ProfileServer>();
  const uses = new Set<string>();

  /** Finds the server of this program, or adds it. One client may have the same program under several names. */
  function place({ name, config }: MovableServer, isFree: (name: string, label: string) => boolean): string {
    const label = toLabel(name);
    const program = programKey(config, home);
    const same = [label, ...servers.keys()].find(
      (other) => programs.get(other) === program && program !== undefined && isFree(other, label),
    );
    if (same !== undefined) return same;
    let free = servers.has(label) ? `${label}-${client}` : label;
    for (let count = 2; servers.has(free); count += 1) free = `${label}-${client}-${count}`;
    servers.set(free, config);
    programs.set(free, program);
    return free;
  }

  for (const [base, found] of wanted) {
    let profile = base;
    const isTaken = () => Object.hasOwn(profiles, profile) && !earlier.profiles.includes(profile);
    for (let count = 2; isTaken(); count += 1) profile = `${base}-${count}`;
    names.set(base, profile);
    const isNew = !Object.hasOwn(profiles, profile);
    const before = isNew ? {} : rulesOf(readProfile(profiles, profile));
    // The person has made it a profile of all servers.
    if (!before) continue;
    const labels = new Map<string, string>();
    const isFree = (name: string, label: string) => {
      const { aliases = [] } = before[name] ?? {};
      const isOwn = !Object.hasOwn(before, name) || name === label || aliases.includes(label);
      return isOwn && (labels.get(name) ?? label) === label;
    };
    const placed = found.map((server) => {
      const name = place(server, isFree);
      labels.set(name, toLabel(server.name));
      return { name, server };
    });
    const rules = new Map<string, ServerRules>(Object.entries(before));
    if (isNew && earlier.profiles.length === 0)
      for (const name of earlier.servers)
        if (servers.has(name)) rules.set(name, toRules(toolRules(servers.get(name)), servers.get(name)));
    for (const [name, group] of Map.groupBy(placed, (one) => one.name)) {
      const label = labels.get(name)!;
      const isAlias = label !== name && !labels.has(label) && !rules.has(label);
      // Two files of the client may name it; what one of them forbids stays forbidden.
      const tools = strictest(group.map(({ server }) => toolRules(server.config)));
      const { timeoutMs } = group[0]!.server.config;
      const entry = servers.get(name);
      const rule = { ...toRules(tools, entry, timeoutMs), ...(isAlias && { aliases: [label] }) };
      rules.set(name, rule);
      const config = withRules(entry, rule) as McpServerConfig;
      moved.push({
        name,
        config,
        aliases: rule.aliases ?? [],
        notes: [
          ...group.flatMap(({ server }) => server.notes),
          ...(Object.hasOwn(present, name) ? ["Keyhole has the same program already."] : []),
        ],
        isOfProject: group.every(({ server }) => server.isOfProject),
      });
    }
    for (const [name, rule] of sharedRules(present, profiles, options)) {
      if (rules.has(name)) continue;
      rules.set(name, rule);
      const config = withRules(servers.get(name), rule) as McpServerConfig;
      shared.set(name, { name, config, aliases: [], notes: [] });
    }
    for (const name of rules.keys()) uses.add(name);
    edits.push(...profileEdits(profile, rules, profiles));
  }
  const added = [...servers].filter(([name]) => !Object.hasOwn(present, name)) as [string, PlainObject][];
  return {
    /** The name of each wanted profile in Keyhole's config. It differs if the person has a profile of that name. */
    names,
    moved,
    shared: [...shared.values()],
    uses: [...uses],
    /** Changes of Keyhole's config. The first adds servers, the others fill profiles. */
    edits: [{ at: ["mcpServers"], remove: [], set: Object.fromEntries(added) }, ...edits] as ConfigEdit[],
  };
}

/** Identifies what a server runs or reaches, however its config is written. Undefined if it cannot be read. */
function programKey(config: unknown, home: string): string | undefined {
  try {
    const { disabled, enabled, includeTools, excludeTools, stateful, ask, timeoutMs, ...program } =
      readServerConfig("server", config);
    const started = program.transport === "stdio" ? { ...program, cwd: program.cwd ?? home } : program;
    const plain: unknown = JSON.parse(JSON.stringify(started));
    // Both spellings name the same variable.
    return contentHash(mapTexts(plain, (text) => text.replaceAll("${env:", "${")));
  } catch {
    return undefined;
  }
}

/** The rules that allow exactly these tools, whatever the server's entry allows. */
function toRules(tools: ToolRules, entry: unknown, timeoutMs?: number): ServerRules {
  const { disabled = false, ...lists } = tools;
  const needsLists = Object.keys(lists).length === 0 && hasToolLists(entry);
  const isOtherTime = timeoutMs !== undefined && timeoutMs !== field(entry, "timeoutMs");
  return {
    ...((disabled || toolRules(entry).disabled) && { disabled }),
    ...(needsLists ? { excludeTools: [] } : lists),
    ...(isOtherTime && { timeoutMs }),
  };
}

/** The servers that are shared by name. If several profiles share one, its strictest rules hold. */
function sharedRules(
  present: PlainObject,
  profiles: PlainObject,
  { sharing, sharesAll }: ProfileOptions,
): Map<string, ServerRules> {
  const whole = Object.fromEntries(Object.keys(present).map((name) => [name, {}]));
  const chosen = sharing.map((name): Readonly<Record<string, ServerRules>> => {
    if (Object.hasOwn(profiles, name)) return rulesOf(readProfile(profiles, name)) ?? whole;
    if (Object.hasOwn(present, name)) return { [name]: {} };
    const known = [...Object.keys(profiles), ...Object.keys(present)];
    throw notFound("connect", ["connected client or server", name], known);
  });
  const all = [...chosen, ...(sharesAll ? [whole] : [])].flatMap((rules) => Object.entries(rules));
  const shared = [...Map.groupBy(all, ([name]) => name)].flatMap(([name, group]): [string, ServerRules][] => {
    const entry = present[name];
    const tools = strictest(group.map(([, rule]) => toolRules(withRules(entry, rule))));
    return entry === undefined || tools.disabled ? [] : [[name, toRules(tools, entry)]];
  });
  return new Map(shared);
}

/** Writes a new profile, or the changed servers of one that is there. */
function profileEdits(
  profile: string,
  rules: ReadonlyMap<string, ServerRules>,
  profiles: PlainObject,
): ConfigEdit[] {
  const written = field(profiles[profile], "servers");
  const all = Object.fromEntries(rules);
  if (!Object.hasOwn(profiles, profile))
    return [{ at: ["profiles"], remove: [], set: { [profile]: { servers: all } } }];
  if (!isPlainObject(written)) return [{ at: ["profiles", profile], remove: [], set: { servers: all } }];
  const changed = [...rules].filter(([name, rule]) => !isDeepStrictEqual(field(written, name), rule));
  return [{ at: ["profiles", profile, "servers"], remove: [], set: Object.fromEntries(changed) }];
}
