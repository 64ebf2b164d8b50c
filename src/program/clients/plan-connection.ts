import type { PlainObject } from "../../base/util/plain-object.ts";
import type { Surface } from "../../core/surfaces/surface-names.ts";
import { strictest, toolRules } from "../../sources/mcp/config/overrides.ts";
import type { McpServerConfig } from "../../sources/mcp/config/server-config.ts";
import { carryRules, findRules } from "./carry-rules.ts";
import type { Client, ClientMachine, ConfigLocation, Program } from "./client.ts";
import { editConfig, readConfig } from "./edit-config.ts";
import { type FoundConfig, findConfigs, KEYHOLE, readText } from "./find-configs.ts";
import type { ConfigEdit, FormatName } from "./formats/format.ts";
import {
  type MovableServer,
  type MovedServer,
  type ProfileOptions,
  type ProfileServer,
  planProfiles,
  withoutNever,
} from "./plan-profiles.ts";
import { type PlannedEdits, planSkills, SKILLS_SERVER } from "./plan-skills.ts";
import type { FoundServer } from "./read-server.ts";

/** A file before and after. */
export interface FileChange {
  readonly path: string;
  readonly format: FormatName;
  /** Undefined if the file does not exist. */
  readonly before: string | undefined;
  readonly after: string;
  readonly edits: readonly ConfigEdit[];
}

export interface ConnectionPlan {
  readonly client: Client;
  /** The client's files. */
  readonly files: readonly FileChange[];
  /** Keyhole's own config. Undefined if nothing changes there. */
  readonly own: FileChange | undefined;
  readonly moved: readonly MovedServer[];
  /** Servers of Keyhole's config that the client gets beside its own. */
  readonly shared: readonly ProfileServer[];
  /** The names of all servers that the client's profiles have. */
  readonly uses: readonly string[];
  /** Servers that Keyhole cannot run. */
  readonly staying: readonly FoundServer[];
  /** Configs of projects that are left alone. */
  readonly projects: readonly FoundConfig[];
  /** Sentences about the client's rules and skills that Keyhole does not keep, or keeps in another way. */
  readonly notes: readonly string[];
  /** Changes with the client's rules about tools. */
  readonly rulesHash: string;
  /** Variables that the client's servers use and that may not reach them. */
  readonly unset: readonly string[];
}

export interface PlanOptions extends Partial<Pick<ProfileOptions, "sharing" | "sharesAll" | "earlier">> {
  readonly machine: ClientMachine;
  /** Starts Keyhole for the client, without the profile. */
  readonly program: Program;
  /** Keyhole's own config. */
  readonly ownPath: string;
  /** Also moves the servers of projects. */
  readonly withProjects?: boolean;
  /** Also puts the person's skills behind Keyhole. */
  readonly withSkills?: boolean;
}

/**
 * Plans to put Keyhole in the place of a client's servers. Changes nothing.
 *
 * @throws CLIENT_CONFIG_INVALID if a file cannot be read or changed safely. INVALID_INPUT if a name to share is unknown.
 */
export async function planConnection(client: Client, options: PlanOptions): Promise<ConnectionPlan> {
  const { machine, program, ownPath, withProjects = false, withSkills = false } = options;
  const { sharing = [], sharesAll = false, earlier = [] } = options;
  const found = await findConfigs([client], machine);
  const users = found.filter(({ place }) => place.scope === "user");
  const projects = found.filter(({ place }) => place.scope === "project");
  const chosen = withProjects ? found : users;
  const [first] = client.places(machine);
  const places = chosen.map(({ place }) => place);
  const written = users.length > 0 ? places : [first!, ...places];

  const ownText = await readText(ownPath);
  const wanted = new Map(written.map((place) => [profileOf(place, client), [] as MovableServer[]]));
  const rules = await findRules(client, machine);
  const ruleNotes = new Set(rules.unread);
  for (const { place, servers } of chosen)
    for (const server of servers.filter(isMovable)) {
      const isOfProject = place.scope === "project";
      const carried = carryRules(client, server.name, rules);
      for (const note of carried.notes) ruleNotes.add(note);
      const entry = toolRules(server.config);
      const tools = strictest([isOfProject ? withoutNever(entry) : entry, carried.tools]);
      wanted.get(profileOf(place, client))!.push({ ...server, isOfProject, tools });
    }
  const skills = withSkills ? await planSkills(client, machine) : { files: [], notes: [] };
  if (withSkills) for (const servers of wanted.values()) servers.push(SKILLS_SERVER);
  const profiles = planProfiles(await readConfig("json", ownText ?? ""), wanted, {
    client: client.name,
    home: machine.home,
    sharing,
    sharesAll,
    earlier,
  });

  const inPlaces = written.map((place): PlannedEdits => {
    const { at, scope, path, format } = place;
    const servers = found.find((one) => one.place === place)?.servers ?? [];
    const args = [...program.args, "--profile", profiles.names.get(profileOf(place, client))!];
    const names = profiles.variables.get(profileOf(place, client))!;
    const edit = {
      at,
      remove: servers.filter(isMovable).map(({ name }) => name),
      set: scope === "user" ? { [KEYHOLE]: entryOf(client, { ...program, args }, names) } : {},
      ...(client.dialect.isList && { isList: true }),
    };
    return { path, format, edits: [edit] };
  });
  const files = [...Map.groupBy([...inPlaces, ...skills.files], ({ path }) => path)].map(changeOf);
  const { moved, shared, uses, edits } = profiles;
  const after = await editConfig({ path: ownPath, format: "json" }, ownText ?? "", edits);
  const isChanged = edits.some(({ set }) => Object.keys(set).length > 0);
  return {
    client,
    files: await Promise.all(files),
    own: isChanged ? { path: ownPath, format: "json", before: ownText, after, edits } : undefined,
    moved,
    shared,
    uses,
    staying: chosen.flatMap(({ servers }) => servers.filter((server) => !isMovable(server))),
    projects: withProjects ? [] : projects.filter(({ servers }) => servers.length > 0),
    notes: [...ruleNotes, ...skills.notes],
    rulesHash: rules.hash,
    unset: profiles.needed.filter((name) => client.variables === "none" || machine.env[name] === undefined),
  };
}

async function changeOf([path, planned]: [string, readonly PlannedEdits[]]): Promise<FileChange> {
  const { format } = planned[0]!;
  const edits = planned.flatMap((one) => one.edits);
  const before = await readText(path);
  return { path, format, before, after: await editConfig({ path, format }, before ?? "", edits), edits };
}

/**
 * Keyhole's entry, with the variables that the client passes on only if they are named. Keyhole's few tools stay loaded;
 * those of all servers are for the client's own search.
 */
export function entryOf(
  { entry, loaded, variables }: Client,
  program: Program,
  names: readonly string[] = [],
): PlainObject {
  const isNamed = typeof variables === "function" && names.length > 0;
  return {
    ...entry(program),
    ...(!program.args.includes("native" satisfies Surface) && loaded),
    ...(isNamed && variables(names)),
  };
}

function isMovable(server: FoundServer): server is FoundServer & { readonly config: McpServerConfig } {
  return server.config !== undefined;
}

function profileOf({ profile }: ConfigLocation, client: Client): string {
  return profile ?? client.name;
}
