import { isDeepStrictEqual } from "node:util";
import { contentHash } from "../../base/util/content-hash.ts";
import { field, fieldsOf, isPlainObject, mapTexts, type PlainObject } from "../../base/util/plain-object.ts";
import {
  hasToolLists,
  readProfile,
  rulesOf,
  type ServerRules,
  strictest,
  type ToolRules,
  toolRules,
  withRules,
} from "../../sources/mcp/config/overrides.ts";
import { readServerConfig, withoutRules } from "../../sources/mcp/config/server-config.ts";
import { variableNamesIn } from "../../sources/mcp/config/to-launch.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import { type AnyServerConfig, readServerKind } from "../../sources/servers/server-kinds.ts";
import { notFound } from "../terminal/define-command.ts";
import type { ConfigEdit } from "./formats/format.ts";
import type { FoundServer } from "./read-server.ts";

/** A server of a client's profile. */
export interface ProfileServer {
  /** Its name in Keyhole's config: that of the first client that brought this program. */
  readonly name: string;
  /** The server as Keyhole's config has it, with the rules of the profile. */
  readonly config: AnyServerConfig;
  readonly notes: readonly string[];
}

/** A server that moves behind Keyhole. */
export interface MovedServer extends ProfileServer {
  /** Whether a file of the project named it, which others may have written. */
  readonly isOfProject: boolean;
}

/** A server in a file of the client that Keyhole can run. */
export interface MovableServer extends FoundServer {
  readonly config: AnyServerConfig;
  readonly isOfProject: boolean;
  /** The client's rules about its tools, those of its entry included. */
  readonly tools: ToolRules;
}

export interface ProfileOptions {
  readonly client: string;
  readonly home: string;
  /** Profiles and servers of Keyhole's config that the client gets beside its own, by name. */
  readonly sharing: readonly string[];
  /** Shares every server of Keyhole's config. */
  readonly sharesAll: boolean;
  /** The profiles that earlier connections of the client made. */
  readonly earlier: readonly string[];
}

type RulesByServer = Readonly<Record<string, ServerRules>>;

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
  const present = fieldsOf(field(own, "mcpServers"));
  const profiles = fieldsOf(field(own, "profiles"));
  const servers = createServers(present, options);
  const shared = sharedRules(present, profiles, options);
  const plans = [...wanted].map(([base, found]) => {
    const profile = profileName(base, profiles, options);
    const before = rulesBefore(profile, profiles, servers.all);
    const moved = moveServers(found, before, servers);
    const known = { ...before, ...moved.rules };
    const added = Object.entries(shared).filter(([name]) => !Object.hasOwn(known, name));
    const rules: RulesByServer = { ...known, ...Object.fromEntries(added) };
    return {
      base,
      profile,
      moved: moved.servers,
      used: Object.keys(rules).map((name) => servers.all.get(name)),
      shared: added.map(([name, rule]) => ({ name, config: servers.with(name, rule), notes: [] })),
      uses: Object.keys(rules),
      edits: profileEdits(profiles, profile, before, rules),
    };
  });
  const added = [...servers.all].filter(([name]) => !Object.hasOwn(present, name)) as [string, PlainObject][];
  return {
    /** The name of each wanted profile in Keyhole's config. It differs if the person has a profile of that name. */
    names: new Map(plans.map(({ base, profile }) => [base, profile])),
    /** The person's variables that the servers of each wanted profile use. */
    variables: new Map(plans.map(({ base, used }) => [base, variableNamesIn(used)])),
    /** Those among them that have no default. */
    needed: variableNamesIn(
      plans.map(({ used }) => used),
      true,
    ),
    moved: plans.flatMap(({ moved }) => moved),
    shared: plans.flatMap(({ shared }): ProfileServer[] => shared),
    uses: [...new Set(plans.flatMap(({ uses }) => uses))],
    /** Changes of Keyhole's config. The first adds servers, the others fill profiles. */
    edits: [
      { at: ["mcpServers"], remove: [], set: Object.fromEntries(added) },
      ...plans.flatMap(({ edits }) => edits),
    ],
  };
}

type Servers = ReturnType<typeof createServers>;

/** The servers of Keyhole's config, those that are added by the plan included. */
function createServers(present: PlainObject, { client, home }: ProfileOptions) {
  const all = new Map<string, unknown>(Object.entries(present));
  const programs = new Map([...all].map(([name, config]) => [name, programKey(config, home)]));
  return {
    all: all as ReadonlyMap<string, unknown>,
    with: (name: string, rules: ServerRules) => withRules(all.get(name), rules) as AnyServerConfig,
    notes: (name: string) => (Object.hasOwn(present, name) ? ["Keyhole has the same program already."] : []),
    /** Finds a server of the same program that may be used, or adds one. Returns its name. */
    place: (label: string, config: AnyServerConfig, mayUse: (name: string) => boolean): string => {
      const program = programKey(config, home);
      const same = [label, ...all.keys()].find((name) => programs.get(name) === program && mayUse(name));
      if (same !== undefined) return same;
      let name = all.has(label) ? `${label}-${client}` : label;
      for (let count = 2; all.has(name); count += 1) name = `${label}-${client}-${count}`;
      // Rules about questions are for this client alone.
      const { askTools: _, ...entry } = config;
      all.set(name, entry);
      programs.set(name, program);
      return name;
    },
  };
}

/** Identifies what a server runs or reaches, however its config is written. Undefined if it cannot be read. */
function programKey(config: unknown, home: string): string | undefined {
  try {
    const server = readServerKind("server", config) ?? readServerConfig("server", config);
    const started = { ...("url" in server ? {} : { cwd: home }), ...withoutRules(server) };
    const plain: unknown = JSON.parse(JSON.stringify(started));
    // Both spellings name the same variable.
    return contentHash(mapTexts(plain, (text) => text.replaceAll("${env:", "${")));
  } catch {
    return undefined;
  }
}

/** A name that is free or was made by an earlier connection: a profile of the person is left alone. */
function profileName(base: string, profiles: PlainObject, { earlier }: ProfileOptions): string {
  let name = base;
  const isTaken = () => Object.hasOwn(profiles, name) && !earlier.includes(name);
  for (let count = 2; isTaken(); count += 1) name = `${base}-${count}`;
  return name;
}

function rulesBefore(profile: string, profiles: PlainObject, servers: Servers["all"]): RulesByServer {
  if (!Object.hasOwn(profiles, profile)) return {};
  // The person may have made it a profile of all servers.
  return rulesOf(readProfile(profiles, profile)) ?? allAsTheyAre([...servers.keys()]);
}

/** Gives every server of the client its name in Keyhole's config, and its rules in the profile. */
function moveServers(found: readonly MovableServer[], before: RulesByServer, servers: Servers) {
  /** The client's name for each server. A client may have one program under two names, with different tools. */
  const labels = new Map<string, string>();
  const placed = found.map((server) => {
    const label = toLabel(server.name);
    const name = servers.place(label, server.config, (other) => {
      const { aliases = [] } = before[other] ?? {};
      const isOwn = !Object.hasOwn(before, other) || other === label || aliases.includes(label);
      return isOwn && (labels.get(other) ?? label) === label;
    });
    labels.set(name, label);
    return { name, server };
  });
  const moved = [...Map.groupBy(placed, ({ name }) => name)].map(([name, group]) => {
    const entry = servers.all.get(name);
    const label = labels.get(name)!;
    const isAlias = label !== name && !labels.has(label) && !Object.hasOwn(before, label);
    // Two files of the client may name it; what one of them forbids stays forbidden.
    const tools = strictest(group.map(({ server }) => server.tools));
    const { timeoutMs } = group[0]!.server.config;
    const rule = { ...toRules(tools, entry, timeoutMs), ...(isAlias && { aliases: [label] }) };
    const server: MovedServer = {
      name,
      config: servers.with(name, rule),
      notes: [...group.flatMap(({ server }) => server.notes), ...servers.notes(name)],
      isOfProject: group.every(({ server }) => server.isOfProject),
    };
    return { server, rule };
  });
  return {
    servers: moved.map(({ server }) => server),
    rules: Object.fromEntries(moved.map(({ server, rule }) => [server.name, rule])) as RulesByServer,
  };
}

/** The rules that allow exactly these tools, whatever the server's entry allows. */
function toRules(tools: ToolRules, entry: unknown, timeoutMs?: number): ServerRules {
  const { disabled = false, askTools, ...lists } = tools;
  const needsLists = Object.keys(lists).length === 0 && hasToolLists(entry);
  const isOtherTime = timeoutMs !== undefined && timeoutMs !== field(entry, "timeoutMs");
  return {
    ...((disabled || toolRules(entry).disabled) && { disabled }),
    ...(needsLists ? { excludeTools: [] } : lists),
    ...(askTools && { askTools }),
    ...(isOtherTime && { timeoutMs }),
  };
}

/** Rules of a project's file, which others may have written, or of another client spare this client's person no question. */
export function withoutNever({ askTools = {}, ...tools }: ToolRules): ToolRules {
  const asked = Object.entries(askTools).filter(([, ask]) => ask !== "never");
  return { ...tools, ...(asked.length > 0 && { askTools: Object.fromEntries(asked) }) };
}

/** The servers that are shared by name. If several profiles share one, its strictest rules hold. */
function sharedRules(
  present: PlainObject,
  profiles: PlainObject,
  { sharing, sharesAll }: ProfileOptions,
): RulesByServer {
  const whole = allAsTheyAre(Object.keys(present));
  const chosen = sharing.map((name): RulesByServer => {
    if (Object.hasOwn(profiles, name)) return rulesOf(readProfile(profiles, name)) ?? whole;
    if (Object.hasOwn(present, name)) return { [name]: {} };
    const names = [...Object.keys(profiles), ...Object.keys(present)];
    throw notFound("connect", ["connected client or server", name], names);
  });
  const all = [...chosen, ...(sharesAll ? [whole] : [])].flatMap((rules) => Object.entries(rules));
  const shared = [...Map.groupBy(all, ([name]) => name)].flatMap(([name, group]) => {
    const entry = present[name];
    const tools = withoutNever(strictest(group.map(([, rule]) => toolRules(withRules(entry, rule)))));
    return entry === undefined || tools.disabled ? [] : [[name, toRules(tools, entry)]];
  });
  return Object.fromEntries(shared);
}

function allAsTheyAre(names: readonly string[]): RulesByServer {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

/** Writes a new profile, or the changed servers of one that is there. */
function profileEdits(
  profiles: PlainObject,
  profile: string,
  before: RulesByServer,
  rules: RulesByServer,
): ConfigEdit[] {
  if (!Object.hasOwn(profiles, profile))
    return [{ at: ["profiles"], remove: [], set: { [profile]: { servers: rules } } }];
  const changed = Object.entries(rules).filter(([name, rule]) => !isDeepStrictEqual(before[name], rule));
  if (changed.length === 0) return [];
  if (!isPlainObject(field(profiles[profile], "servers")))
    return [{ at: ["profiles", profile], remove: [], set: { servers: rules } }];
  return [{ at: ["profiles", profile, "servers"], remove: [], set: Object.fromEntries(changed) }];
}
