import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProblem } from "../../base/problems/problem.ts";
import { countOf } from "../../base/util/count-of.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { field, listOf } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { GRANT_KINDS, openGrantsNow } from "../../core/access/grants.ts";
import { readAuditFolder } from "../../core/audit/audit-folder.ts";
import { verifyChain } from "../../core/audit/verify-chain.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { examineDatabase, whyUnusable } from "../../postgres/state/examine.ts";
import { findRules } from "../clients/carry-rules.ts";
import type { ClientMachine } from "../clients/client.ts";
import { CLIENTS } from "../clients/clients.ts";
import { createConnections } from "../clients/connections.ts";
import { readConfig } from "../clients/edit-config.ts";
import { entriesOf, type FoundConfig, findConfigs, KEYHOLE, readText } from "../clients/find-configs.ts";
import { isJsonConfig } from "../open/config-files.ts";
import { loadSettings } from "../open/load-settings.ts";
import { databaseUrl, openDatabasePool } from "../open/open-state.ts";
import { APPROVALS_FILE } from "../open/person-grants.ts";
import { SECRETS_FILE, withSecrets } from "../open/secrets.ts";
import type { Settings } from "../open/settings-schema.ts";
import { auditFolder } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { cacheFolder, setStateFolder } from "../open/user-folders.ts";

/** Files of the state folder, and the way to make anew what a damaged one held. */
const filesOf = (config: string | undefined): Readonly<Record<string, string>> => ({
  [APPROVALS_FILE]: `approve again: ${suggestCommand(["approve"], config)}, and make the keys of agents again: keyhole agents add NAME`,
  [SECRETS_FILE]: "set the secrets again: keyhole secrets set NAME",
});
const OTHERS = 0o077;

/** Checks the folders in which Keyhole keeps state, and the files in them. */
export async function* checkState(home: string, config: string | undefined): AsyncGenerator<Finding> {
  const state = setStateFolder();
  yield* checkFolder(state, "KEYHOLE_STATE");
  yield* checkFolder(cacheFolder(), "XDG_CACHE_HOME");
  for (const [name, fix] of Object.entries(filesOf(config))) {
    const path = join(state, name);
    // Reading sets the mode.
    yield* checkMode(path);
    const damage = damageOf(path);
    const files = existsSync(state) ? readdirSync(state) : [];
    const damaged = files.find((each) => each.startsWith(`${name}.damaged`));
    if (damaged !== undefined) {
      const cause = `it was damaged and is kept as ${join(state, damaged)}`;
      yield problemWith(path, cause, `Remove that file, then ${fix}.`);
    } else if (damage !== undefined) {
      yield problemWith(
        path,
        damage,
        `Make ${path} a file that you can read and write, or remove it; then ${fix}.`,
      );
    }
  }
  yield* checkMode(join(home, ".keyhole", "settings.json"));
  for (const chain of readAuditFolder(auditFolder())) {
    const { bad } = await verifyChain(chain, () => {});
    if (bad)
      yield problemWith(auditFolder(), `the audit log is not intact: ${bad.reason}`, "keyhole logs verify");
  }
}

/** Reads all grants. Secrets are read by every command, which fails with the reason if they cannot be read. */
function damageOf(path: string): string | undefined {
  const storage = openRecordFile(path);
  return GRANT_KINDS.map((kind) => openGrantsNow(storage, kind).damage).find(
    (damage) => damage !== undefined,
  );
}

/** A folder that is not there yet has to be one that can be made. */
function* checkFolder(folder: string, variable: string): Generator<Finding> {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    if (!statSync(at).isDirectory())
      return yield problemWith(folder, `${at} is a file and no folder`, `Move ${at} away.`);
    accessSync(at, constants.W_OK | constants.X_OK);
    // Root may write everywhere, except where the file system is read-only.
    makeFolder(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? reasonOf(error);
    const isRepairable = code === "EACCES" && dirname(at) !== at && statSync(at).uid === process.getuid?.();
    const fix = isRepairable
      ? `Make it writable: chmod u+rwx ${at}, or set ${variable} to a folder that is.`
      : `Set ${variable} to a folder that you can write.`;
    yield problemWith(folder, `it cannot be written (${code})`, fix);
  }
}

function* checkMode(path: string): Generator<Finding> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts || process.platform === "win32" || (facts.mode & OTHERS) === 0) return;
  yield warningOf(path, "other users of this machine can read it", `chmod 600 ${path}`);
}

/** Something that is wrong, or will be, with its cause and its fix. */
export interface Finding {
  /** `problem`: it does not work. `warning`: it works, and should be looked at. */
  readonly level: "problem" | "warning";
  /** The file, server or client that it is about. */
  readonly about: string;
  readonly cause: string;
  /** A command, or a sentence about what to change. */
  readonly fix: string;
}

export function problemWith(about: string, cause: string, fix: string): Finding {
  return { level: "problem", about, cause, fix };
}

export function warningOf(about: string, cause: string, fix: string): Finding {
  return { level: "warning", about, cause, fix };
}

const ABOUT = "state.postgres";

/** Looks at the database that a config names, without a change: what is wrong with it, or a sentence about it. */
export async function checkDatabase(
  config: string | undefined,
): Promise<{ readonly findings: readonly Finding[]; readonly sentence?: string }> {
  const { settings } = await loadSettings({ config: isJsonConfig(config) ? config : undefined });
  if (!settings.state) return { findings: [] };
  try {
    const seen = await look(settings.state);
    if ("reason" in seen) return { findings: [problemWith(ABOUT, seen.reason, seen.step)] };
    const tables = seen.tables === 0 ? "no tables yet" : `tables of version ${seen.tables}`;
    const alive = countOf(seen.gateways, "gateway");
    return {
      findings: [],
      sentence: `PostgreSQL ${seen.server}, a primary that may be written: ${tables}, ${alive} alive.`,
    };
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { findings: [problemWith(ABOUT, error.message, error.next)] };
  }
}

async function look(state: NonNullable<Settings["state"]>) {
  const client = await openDatabasePool(databaseUrl(state, withSecrets(process.env)), 1);
  try {
    return (await whyUnusable(client)) ?? (await examineDatabase(client, state.table ?? "keyhole"));
  } finally {
    await client.end().catch(() => {});
  }
}

/** Checks the configs of MCP clients: whether they can be read, and whether Keyhole's entry in them still works. */
export async function* checkClients(machine: ClientMachine): AsyncGenerator<Finding> {
  const connections = createConnections(join(setStateFolder(), "connections"));
  for (const config of await findConfigs(CLIENTS, machine)) {
    const { client, place, problem, isConnected, servers } = config;
    const { path } = place;
    if (problem !== undefined)
      yield problemWith(path, `${client.title} cannot read it either: ${problem}`, `Correct ${path}.`);
    if (!isConnected) continue;
    const again = `keyhole connect ${client.name} --undo, then keyhole connect ${client.name}`;
    const words = await wordsOf(config);
    if (!words.includes("--profile"))
      yield warningOf(
        path,
        `${client.title} gets the servers of every client, without the restrictions of its own config`,
        `keyhole connect ${client.name} gives it a profile of its own.`,
      );
    const before = place.scope === "user" ? await connections.rulesOf(client.name) : undefined;
    if (before !== undefined && before !== (await findRules(client, machine)).hash)
      yield warningOf(path, `${client.title} has other rules about tools than when it was connected`, again);
    for (const missing of missingPrograms(words)) {
      const cause = `${client.title} starts Keyhole from ${missing}, which does not exist`;
      yield problemWith(path, cause, again);
    }
    const others = servers
      .filter((server) => server.config && place.scope === "user")
      .map(({ name }) => name);
    if (others.length === 0) continue;
    const cause = `${client.title} also has servers that are not behind Keyhole: ${others.join(", ")}`;
    yield warningOf(path, cause, `keyhole connect ${client.name}`);
  }
}

/** The command and the arguments of Keyhole's entry. */
async function wordsOf({ place }: FoundConfig): Promise<string[]> {
  const value = await readConfig(place.format, (await readText(place.path)) ?? "");
  const [, entry] = entriesOf(place.at.reduce(field, value)).find(([name]) => name === KEYHOLE) ?? [];
  const words = [field(entry, "command"), field(entry, "cmd"), field(entry, "args")].flatMap((part) =>
    Array.isArray(part) ? listOf(part) : [part],
  );
  return words.filter((word) => typeof word === "string");
}

function missingPrograms(words: readonly string[]): string[] {
  return words.filter((word) => /^(?:\/|[A-Za-z]:[\\/])/.test(word)).filter((path) => !existsSync(path));
}
