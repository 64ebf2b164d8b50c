import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { uniqueName } from "../../base/util/unique-name.ts";
import { showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { isSwitchedOff, type McpServerConfig } from "../../sources/mcp/config/server-config.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import { createServerSource } from "../../sources/servers/from-config.ts";
import type { AnyServerConfig } from "../../sources/servers/server-kinds.ts";
import { wrapText } from "../terminal/define-command.ts";
import type { Client } from "./client.ts";
import type { FoundConfig } from "./find-configs.ts";

/** A server in the config of one client. */
interface ServerUse extends Pick<FoundConfig, "client" | "place"> {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly notes: readonly string[];
}

/** A server that one or more clients have: the same program, whatever they call it. */
interface SharedServer {
  readonly program: ServerProgram;
  readonly uses: readonly ServerUse[];
}

/** Describes what a server would run. Starts nothing. */
export function programOf(
  { name, config }: { readonly name: string; readonly config: AnyServerConfig },
  home: string,
): ServerProgram {
  return createServerSource(name, config, { cwd: home }).program();
}

/** Finds the servers of all configs, each once. */
export function shareServers(configs: readonly FoundConfig[], home: string): SharedServer[] {
  const uses = configs.flatMap(({ client, place, servers }) =>
    servers.flatMap(({ name, config, notes }): ServerUse[] =>
      config ? [{ client, place, name, config, notes }] : [],
    ),
  );
  const shared = Map.groupBy(uses, ({ config }) => programOf({ name: "server", config }, home).hash);
  return [...shared.values()].map((group) => ({
    program: programOf({ name: "server", config: group[0]!.config }, home),
    uses: group,
  }));
}

/**
 * The servers of the users by label, and the labels that each client has. A server stands there once for each choice
 * of tools. Those of projects stay where they are, so they are left out, as those that are switched off.
 */
export function serversToMove(servers: readonly SharedServer[]) {
  const taken = new Set<string>();
  const configs = new Map<string, McpServerConfig>();
  const clients = new Map<Client, string[]>();
  for (const { uses } of servers) {
    const moving = uses.filter(({ place, config }) => place.scope === "user" && !isSwitchedOff(config));
    for (const group of Map.groupBy(moving, choiceOfTools).values()) {
      const label = uniqueName(toLabel(group[0]!.name), taken);
      configs.set(label, group[0]!.config);
      for (const { client } of group) clients.set(client, [...(clients.get(client) ?? []), label]);
    }
  }
  return { configs, clients: [...clients].map(([client, labels]) => ({ client, labels })) };
}

function choiceOfTools({ config: { includeTools, excludeTools } }: ServerUse): string {
  return JSON.stringify([includeTools, excludeTools]);
}

const NAME_WIDTH = 24;

/** Lists the servers for a person: what each runs or reaches, and the clients that have it. */
export function sharedLines(configs: readonly FoundConfig[], home: string, columns: number): string[] {
  const servers = shareServers(configs, home);
  const owners = new Set(
    configs.filter(({ servers }) => servers.length > 0).map(({ client }) => client.title),
  );
  const connected = new Set(
    configs.filter(({ isConnected }) => isConnected).map(({ client }) => client.title),
  );
  const names = servers.map(({ uses }) => [...new Set(uses.map(({ name }) => name))].join(", "));
  const width = Math.min(NAME_WIDTH, Math.max(0, ...names.map((name) => name.length))) + 4;
  const rows = servers.flatMap(({ program, uses }, index) => {
    const [runs = ""] = showProgram(program);
    const details = [
      runs.replace(/^\w+ +/, ""),
      variablesOf(program),
      usesOf(uses, owners),
      ...notesOf(uses),
    ];
    const [first = "", ...more] = details
      .filter((detail) => detail !== "")
      .flatMap((detail) => wrapText(toVisibleLine(detail), columns - width));
    const name = `  ${toVisibleLine(names[index]!)}  `;
    const lines = more.map((line) => `${" ".repeat(width)}${line}`);
    if (name.length > width) return [name.trimEnd(), `${" ".repeat(width)}${first}`, ...lines];
    return [`${name.padEnd(width)}${first}`, ...lines];
  });
  return [
    ...(owners.size > 0 ? [headOf(configs, servers.length, owners)] : []),
    ...rows,
    ...configs.flatMap(({ client, servers }) =>
      servers.flatMap(({ name, config, stays }) =>
        config
          ? []
          : [toVisibleLine(`  ${name} cannot run behind Keyhole, and stays with ${client.title}: ${stays}`)],
      ),
    ),
    ...configs.flatMap(({ client, place, problem }) =>
      problem === undefined
        ? []
        : [toVisibleLine(`${client.title}: ${place.path} cannot be read: ${problem}`)],
    ),
    ...(connected.size > 0 ? [`Connected to Keyhole: ${[...connected].join(", ")}`] : []),
  ];
}

function headOf(configs: readonly FoundConfig[], count: number, owners: ReadonlySet<string>): string {
  const [title] = owners;
  const paths = new Set(configs.filter(({ servers }) => servers.length > 0).map(({ place }) => place.path));
  const where = owners.size === 1 ? `${title} (${[...paths].join(", ")})` : countOf(owners.size, "client");
  return toVisibleLine(`${countOf(count, "server")} in ${where}:`);
}

function variablesOf({ runs }: ServerProgram): string {
  const names = Object.keys("url" in runs ? runs.headers : "command" in runs ? runs.env : {});
  return names.length === 0 ? "" : `with ${names.join(", ")}`;
}

/** The clients that have a server, as far as there are several, and those that limit it. */
function usesOf(uses: readonly ServerUse[], owners: ReadonlySet<string>): string {
  const limited = uses.flatMap((use) => {
    const limits = limitsOf(use);
    return limits.length === 0 ? [] : [`${use.client.title} (${limits.join("; ")})`];
  });
  const whole = new Set(uses.filter((use) => limitsOf(use).length === 0).map(({ client }) => client.title));
  if (owners.size === 1) return limited.join(", ");
  if (whole.size === owners.size) return `in all ${owners.size} clients`;
  return `in ${[...whole, ...limited].join(", ")}`;
}

function limitsOf({ config, place }: ServerUse): string[] {
  const { includeTools, excludeTools } = config;
  return [
    ...(place.scope === "project" ? [`project ${place.path}`] : []),
    ...(isSwitchedOff(config) ? ["switched off"] : []),
    ...(includeTools ? [`only ${includeTools.join(", ")}`] : []),
    ...(excludeTools ? [`without ${excludeTools.join(", ")}`] : []),
  ];
}

/** The notes about a server, each once, with the clients that it concerns. */
function notesOf(uses: readonly ServerUse[]): string[] {
  const notes = uses.flatMap(({ client, notes }) => notes.map((note) => ({ note, title: client.title })));
  return [...Map.groupBy(notes, ({ note }) => note)].map(([note, concerned]) => {
    return `note: ${[...new Set(concerned.map(({ title }) => title))].join(", ")}: ${note}`;
  });
}
