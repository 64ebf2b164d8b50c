import { existsSync } from "node:fs";
import type { Machine } from "../clients/client.ts";
import { CLIENTS } from "../clients/clients.ts";
import { readConfig } from "../clients/edit-config.ts";
import { entriesOf, type FoundConfig, findConfigs, KEYHOLE, readText } from "../clients/find-configs.ts";
import { field, listOf } from "../util/fields.ts";
import { type Finding, problemWith, warningOf } from "./finding.ts";

/** Checks the configs of MCP clients: whether they can be read, and whether Keyhole's entry in them still works. */
export async function checkClients(machine: Machine): Promise<Finding[]> {
  const configs = await findConfigs(CLIENTS, machine);
  return (await Promise.all(configs.map(checkConfig))).flat();
}

async function checkConfig(config: FoundConfig): Promise<Finding[]> {
  const { client, place, problem, isConnected, servers } = config;
  if (problem !== undefined)
    return [
      problemWith(place.path, `${client.title} cannot read it either: ${problem}`, `Correct ${place.path}.`),
    ];
  if (!isConnected) return [];
  const left = servers.filter((server) => server.config && place.scope === "user").map(({ name }) => name);
  const again = `keyhole connect ${client.name} --undo, then keyhole connect ${client.name}`;
  return [
    ...(await missingPrograms(config)).map((path) =>
      problemWith(place.path, `${client.title} starts Keyhole from ${path}, which does not exist`, again),
    ),
    ...(left.length > 0
      ? [
          warningOf(
            place.path,
            `${client.title} also has servers that are not behind Keyhole: ${left.join(", ")}`,
            `keyhole connect ${client.name}`,
          ),
        ]
      : []),
  ];
}

/** The absolute paths of Keyhole's entry that are not there. */
async function missingPrograms({ place }: FoundConfig): Promise<string[]> {
  const value = await readConfig(place.format, (await readText(place.path)) ?? "");
  const [, entry] = entriesOf(place.at.reduce(field, value)).find(([name]) => name === KEYHOLE) ?? [];
  const words = [field(entry, "command"), field(entry, "cmd"), field(entry, "args")].flatMap((part) =>
    Array.isArray(part) ? listOf(part) : [part],
  );
  return words
    .filter((word): word is string => typeof word === "string" && /^(?:\/|[A-Za-z]:[\\/])/.test(word))
    .filter((path) => !existsSync(path));
}
