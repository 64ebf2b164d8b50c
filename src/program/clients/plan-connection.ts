import { isDeepStrictEqual } from "node:util";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import type { McpServerConfig } from "../../sources/mcp/config/server-config.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import type { Client, ClientMachine, Program } from "./client.ts";
import { editConfig, readConfig } from "./edit-config.ts";
import { type FoundConfig, findConfigs, KEYHOLE, readText } from "./find-configs.ts";
import type { ConfigEdit, FormatName } from "./formats/format.ts";
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

/** A server that moves behind Keyhole. */
export interface MovedServer {
  /** Its name in Keyhole's config, which differs if another server has its own. */
  readonly name: string;
  readonly config: McpServerConfig;
  /** Whether a file of the project named it, which others may have written. */
  readonly isOfProject: boolean;
  readonly notes: readonly string[];
}

export interface ConnectionPlan {
  readonly client: Client;
  /** The client's files. */
  readonly files: readonly FileChange[];
  /** Keyhole's own config. Undefined if it has all the servers already. */
  readonly own: FileChange | undefined;
  readonly moved: readonly MovedServer[];
  /** Servers that Keyhole cannot run. */
  readonly staying: readonly FoundServer[];
  /** Configs of projects that are left alone. */
  readonly projects: readonly FoundConfig[];
}

export interface PlanOptions {
  readonly machine: ClientMachine;
  /** Starts Keyhole for the client. */
  readonly program: Program;
  /** Keyhole's own config. */
  readonly ownPath: string;
  /** Also moves the servers of projects. */
  readonly withProjects?: boolean;
}

/**
 * Plans to put Keyhole in the place of a client's servers. Changes nothing.
 *
 * @throws CLIENT_CONFIG_INVALID if a file cannot be read or changed safely.
 */
export async function planConnection(client: Client, options: PlanOptions): Promise<ConnectionPlan> {
  const { machine, program, ownPath, withProjects = false } = options;
  const found = await findConfigs([client], machine);
  const users = found.filter(({ place }) => place.scope === "user");
  const projects = found.filter(({ place }) => place.scope === "project");
  const chosen = withProjects ? found : users;
  const ownText = await readText(ownPath);
  const known = fieldsOf(field(await readConfig("json", ownText ?? ""), "mcpServers"));
  const names = new Map<string, unknown>(Object.entries(known));
  const moved = chosen.flatMap(({ place, servers }) =>
    servers.flatMap(({ name, config, notes }): MovedServer[] => {
      if (!config) return [];
      const own = freeName(toLabel(name), config, client.name, names);
      names.set(own, config);
      return [{ name: own, config, notes, isOfProject: place.scope === "project" }];
    }),
  );
  const [first] = client.places(machine);
  const places = chosen.map(({ place }) => place);
  const written = users.length > 0 ? places : [first!, ...places];
  const paths = [...new Set(written.map(({ path }) => path))];
  const files = paths.map(async (path): Promise<FileChange> => {
    const here = written.filter((place) => place.path === path);
    const edits = here.map(({ at, scope }): ConfigEdit => {
      const servers = found.find(
        ({ place }) => place.path === path && place.at.join() === at.join(),
      )?.servers;
      return {
        at,
        remove: (servers ?? []).filter(({ config }) => config).map(({ name }) => name),
        set: scope === "user" ? { [KEYHOLE]: client.entry(program) } : {},
        ...(client.dialect.isList && { isList: true }),
      };
    });
    const { format } = here[0]!;
    const before = await readText(path);
    return { path, format, before, after: await editConfig({ path, format }, before ?? "", edits), edits };
  });
  const added = Object.fromEntries(
    moved.filter(({ name }) => !Object.hasOwn(known, name)).map(({ name, config }) => [name, config]),
  );
  const edits: ConfigEdit[] = [{ at: ["mcpServers"], remove: [], set: added }];
  const isComplete = Object.keys(added).length === 0;
  const after = await editConfig({ path: ownPath, format: "json" }, ownText ?? "", edits);
  return {
    client,
    files: await Promise.all(files),
    own: isComplete ? undefined : { path: ownPath, format: "json", before: ownText, after, edits },
    moved,
    staying: chosen.flatMap(({ servers }) => servers.filter(({ config }) => !config)),
    projects: withProjects ? [] : projects.filter(({ servers }) => servers.length > 0),
  };
}

/** Two clients may share a server; two different ones of the same name get different names. */
function freeName(
  wanted: string,
  config: unknown,
  client: string,
  names: ReadonlyMap<string, unknown>,
): string {
  const isFree = (name: string) => !names.has(name) || isDeepStrictEqual(names.get(name), config);
  let name = isFree(wanted) ? wanted : `${wanted}-${client}`;
  for (let count = 2; !isFree(name); count += 1) name = `${wanted}-${client}-${count}`;
  return name;
}
