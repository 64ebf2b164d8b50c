import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Program } from "../src/program/clients/client.ts";
import { CLIENTS } from "../src/program/clients/clients.ts";
import { editConfig } from "../src/program/clients/edit-config.ts";
import { KEYHOLE } from "../src/program/clients/find-configs.ts";
import type { LabClient, Setup } from "./lab-client.ts";

/** Writes the entry of Keyhole into the client's config, as `keyhole connect` does. */
export async function connectKeyhole(client: LabClient, setup: Setup, program: Program): Promise<void> {
  const { path, text } = client.entryFile?.(program, setup) ?? (await connectedFile(client, setup, program));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function connectedFile({ name, place = 0 }: LabClient, { home, project }: Setup, program: Program) {
  const known = CLIENTS.find((client) => client.name === name);
  if (!known) throw new Error(`keyhole connect does not know ${name}: its row needs an entryFile.`);
  const { path, at, format } = known.places({ home, project, platform: process.platform, env: {} })[place]!;
  const edit = {
    at,
    remove: [],
    set: { [KEYHOLE]: known.entry(program) },
    ...(known.dialect.isList && { isList: true }),
  };
  const before = existsSync(path) ? await readFile(path, "utf8") : "";
  return { path, text: await editConfig({ path, format }, before, [edit]) };
}
