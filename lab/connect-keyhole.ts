import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { PlainObject } from "../src/base/util/plain-object.ts";
import type { Client, Program } from "../src/program/clients/client.ts";
import { CLIENTS } from "../src/program/clients/clients.ts";
import { editConfig } from "../src/program/clients/edit-config.ts";
import { KEYHOLE } from "../src/program/clients/find-configs.ts";
import { entryOf } from "../src/program/clients/plan-connection.ts";
import type { LabClient, LabPrograms, LabServers, Setup } from "./lab-client.ts";

/** Writes the entry of Keyhole into the client's config, as `keyhole connect` does. */
export async function connectKeyhole(client: LabClient, setup: Setup, program: Program): Promise<void> {
  const known = knownClient(client);
  await write(client, setup, { [KEYHOLE]: program }, known && { [KEYHOLE]: entryOf(known, program) });
}

/** Writes servers into the client's config, as a person does. */
export async function writeEntries(client: LabClient, setup: Setup, servers: LabServers): Promise<void> {
  const entries = Object.entries(servers).map(([name, server]) => [
    name,
    "url" in server ? (client.remote?.(server.url) ?? server) : (client.entry?.(server, name) ?? server),
  ]);
  await write(client, setup, servers, Object.fromEntries(entries));
}

function knownClient({ name }: LabClient): Client | undefined {
  return CLIENTS.find((client) => client.name === name);
}

async function write(
  client: LabClient,
  setup: Setup,
  servers: LabServers,
  entries: Readonly<Record<string, PlainObject>> | undefined,
): Promise<void> {
  // Servers at addresses are only for clients that `connect` knows.
  const { path, text } =
    client.entryFile?.(servers as LabPrograms, setup) ?? (await editedFile(client, setup, entries));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function editedFile(
  client: LabClient,
  { home, project }: Setup,
  set: Readonly<Record<string, PlainObject>> | undefined,
) {
  const known = knownClient(client);
  if (!known || !set)
    throw new Error(`keyhole connect does not know ${client.name}: its row needs an entryFile.`);
  const places = known.places({ home, project, platform: process.platform, env: {} });
  const { path, at, format } = places[client.place ?? 0]!;
  const edit = { at, remove: [], set, ...(known.dialect.isList && { isList: true }) };
  const before = existsSync(path) ? await readFile(path, "utf8") : "";
  return { path, text: await editConfig({ path, format }, before, [edit]) };
}
