import { readFile, stat } from "node:fs/promises";
import { field, isPlainObject, listOf } from "../../base/util/plain-object.ts";
import type { Client, ClientMachine, ConfigLocation } from "./client.ts";
import { readConfig, reasonWhy, unusable } from "./edit-config.ts";
import { refused } from "./formats/format.ts";
import { type FoundServer, readServer } from "./read-server.ts";

/** The name of Keyhole's entry in the config of a client. */
export const KEYHOLE = "keyhole";

/** The servers at one place of a client's config. */
export interface FoundConfig {
  readonly client: Client;
  /** With a real path, without `*`. */
  readonly place: ConfigLocation;
  readonly servers: readonly FoundServer[];
  /** Whether Keyhole's entry is there. */
  readonly isConnected: boolean;
  /** Why the file cannot be read. */
  readonly problem?: string;
}

const MAX_BYTES = 32 * 1024 * 1024;

/** Finds the configs of clients that exist, and the servers in them. Starts nothing. Never throws. */
export async function findConfigs(
  clients: readonly Client[],
  machine: ClientMachine,
): Promise<FoundConfig[]> {
  const found = clients.map(async (client) => {
    const places = client.places(machine);
    const own = places.filter(
      (place) => place.scope === "user" || !places.some((other) => isSameUserPlace(other, place)),
    );
    return (await Promise.all(own.map((place) => findServers(client, place, machine)))).flat();
  });
  return (await Promise.all(found)).flat();
}

/** In the home folder, the project's file may be the user's. */
function isSameUserPlace(user: ConfigLocation, { path, at }: ConfigLocation): boolean {
  return user.scope === "user" && user.path === path && user.at.join() === at.join();
}

async function findServers(
  client: Client,
  place: ConfigLocation,
  machine: ClientMachine,
): Promise<FoundConfig[]> {
  const nothing = { client, servers: [], isConnected: false };
  try {
    const text = await readText(place.path);
    if (text === undefined) return [];
    const value = await readConfig(place.format, text);
    return expand(place.at, value).map(({ at, folder }) => {
      const project = place.scope === "project" ? (folder ?? machine.project) : undefined;
      const entries = entriesOf(at.reduce(field, value));
      return {
        client,
        place: { ...place, at },
        servers: entries
          .filter(([name]) => name !== KEYHOLE)
          .flatMap(([name, entry]) => {
            return readServer(name, entry, client.dialect, { home: machine.home, project }) ?? [];
          })
          .map((server) => (client.isOff?.(value, server.name) ? switchedOff(server) : server)),
        isConnected: entries.some(([name]) => name === KEYHOLE),
      };
    });
  } catch (error) {
    // The file of Claude Code has two places and needs one report.
    return place.at.includes("*") ? [] : [{ ...nothing, place, problem: reasonWhy(error) }];
  }
}

/**
 * Reads a config as text; undefined if it does not exist.
 *
 * @throws CLIENT_CONFIG_INVALID
 */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) throw refused("it is not a regular file");
    if (facts.size > MAX_BYTES) throw refused(`it is larger than ${MAX_BYTES} bytes`);
    const bytes = await readFile(path);
    const text = bytes.toString("utf8");
    if (!Buffer.from(text).equals(bytes)) throw refused("it is not UTF-8 text");
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(path, error);
  }
}

function expand(at: readonly string[], value: unknown): { at: readonly string[]; folder?: string }[] {
  const star = at.indexOf("*");
  if (star < 0) return [{ at }];
  const holder = at.slice(0, star).reduce(field, value);
  return Object.keys(isPlainObject(holder) ? holder : {})
    .map((folder) => ({ at: at.with(star, folder), folder }))
    .filter((one) => entriesOf(one.at.reduce(field, value)).length > 0);
}

function switchedOff(server: FoundServer): FoundServer {
  return { ...server, ...(server.config && { config: { ...server.config, disabled: true } }) };
}

/** The servers by name, also if they are a list. */
export function entriesOf(servers: unknown): [string, unknown][] {
  if (isPlainObject(servers)) return Object.entries(servers);
  return listOf(servers).map((entry) => [String(field(entry, "name") ?? ""), entry]);
}
