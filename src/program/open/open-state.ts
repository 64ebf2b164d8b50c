import { problem } from "../../base/problems/problem.ts";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { OpenStorage } from "../../base/util/storage.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import { openPool, type PostgresPool } from "../../core/storage/postgres-client.ts";
import type { RecordStorage } from "../../core/storage/records.ts";
import type { PostgresState } from "../../postgres/state/open-postgres-state.ts";
import { createTypesenseIndex } from "../../postgres/typesense/typesense-index.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { createStaticEmbedder } from "../../search/vectors/static-embedder.ts";
import { expandVariables } from "../../sources/mcp/config/to-launch.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import { provideCarriedPackages } from "./carried-packages.ts";
import { isJsonConfig } from "./config-files.ts";
import { type LoadedSettings, loadSettings } from "./load-settings.ts";
import { withSecrets } from "./secrets.ts";
import type { Settings } from "./settings-schema.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The state that a config names, which all its gateways share. Without it, the state folder has everything. */
export interface ProgramState {
  readonly storage: OpenStorage;
  /** Approvals, agents' keys, waiting calls, and the sessions of the console. */
  readonly records: RecordStorage;
  readonly stores: Omit<PostgresState["stores"], "pins" | "learning">;
  readonly audit: AuditStore;
  /** A search index for each profile: their catalogs differ. */
  openIndex(profile: string | undefined): SearchIndex;
  close(): Promise<void>;
}

/** One for each database: the gateways of a process share it. */
const opened = new Map<string, Promise<ProgramState>>();

/**
 * Opens the state that settings name; undefined if they name none.
 *
 * @throws CONFIG_INVALID if a variable is not set, or the database cannot be used. PACKAGE_MISSING
 */
export async function openState(
  { state }: Pick<Settings, "state">,
  variables: Variables = withSecrets(process.env),
): Promise<ProgramState | undefined> {
  if (!state) return undefined;
  const { table = "keyhole" } = state;
  const url = databaseUrl(state, variables);
  const key = JSON.stringify([url, table]);
  const known = opened.get(key);
  if (known) return known;
  if (opened.size === 0) process.once("beforeExit", () => void closeStates());
  const opening = connect(url, table);
  opened.set(key, opening);
  opening.catch(() => opened.delete(key));
  return opening;
}

/**
 * Opens the state of a command's config, or of the person's settings, for a command that needs nothing else of it.
 *
 * @throws as {@link openState}; FILE_INVALID as {@link refuseIgnored}
 */
export async function openStateOf(config: string | undefined): Promise<ProgramState | undefined> {
  const loaded = await loadSettings({ config: isJsonConfig(config) ? config : undefined });
  refuseIgnored(loaded);
  return openState(loaded.settings);
}

/** Leaves all databases. Other gateways then know at once that this one has ended. */
export async function closeStates(): Promise<void> {
  const states = await Promise.allSettled(opened.values());
  opened.clear();
  await Promise.all(states.map((one) => one.status === "fulfilled" && one.value.close()));
}

/** Sections that say who may do what, and where that is kept: going on without them would be another gateway. */
const DECISIVE = ["state", "index", "people", "sealKey", "limits"];

/**
 * Refuses to go on with a file that cannot be read and has sections without which rights or data would be others.
 *
 * @throws FILE_INVALID
 */
export function refuseIgnored({ sources, problems }: LoadedSettings): void {
  const ignored = sources.find(({ sections = [] }) => sections.some((name) => DECISIVE.includes(name)));
  if (ignored) throw problems.find(({ details }) => details.file === ignored.path) ?? problems[0];
}

/** @throws CONFIG_INVALID that names the variable which is not set. */
export function databaseUrl({ postgres }: NonNullable<Settings["state"]>, variables: Variables): string {
  const url = fillSetting("state.postgres", postgres, variables);
  const { protocol, password = "" } = URL.parse(url) ?? {};
  if (protocol !== "postgres:" && protocol !== "postgresql:")
    throw unusable("state.postgres", "it is no address of PostgreSQL", ADDRESS);
  knowSecrets([url, ...(password === "" ? [] : [decodeURIComponent(password)])]);
  return url;
}

const ADDRESS = "Write it as postgres://USER:PASSWORD@HOST:5432/DATABASE.";

/** @throws CONFIG_INVALID */
export function fillSetting(setting: string, text: string, variables: Variables): string {
  try {
    return expandVariables(setting, text, variables);
  } catch (error) {
    throw unusable(setting, reasonWhy(error), "Set it where Keyhole starts, and start again.");
  }
}

function unusable(setting: string, reason: string, step: string) {
  return problem("CONFIG_INVALID", { path: setting, reason, step });
}

/** Connections of one process. Calls wait for a free one, so a database of many replicas is not flooded. */
const MOST_CONNECTIONS = 10;

/** A client of the database, with the packages that the program carries. */
export async function openDatabasePool(url: string, most = MOST_CONNECTIONS): Promise<PostgresPool> {
  await provideCarriedPackages();
  return openPool(url, "State in PostgreSQL", most);
}

async function connect(url: string, table: string): Promise<ProgramState> {
  const [{ openPostgresState }, { createPostgresIndex }, { whyUnusable }] = await Promise.all([
    import("../../postgres/state/open-postgres-state.ts"),
    import("../../postgres/search/postgres-index.ts"),
    import("../../postgres/state/examine.ts"),
  ]);
  const client = await openDatabasePool(url);
  const fault = await whyUnusable(client);
  const state = fault
    ? undefined
    : await openPostgresState({ client, table }).catch((error: unknown) => reasonOf(error));
  if (typeof state !== "object") {
    await client.end().catch(() => {});
    throw unusable("state.postgres", fault?.reason ?? String(state), fault?.step ?? DOCTOR);
  }
  const { storage, records, audit } = state;
  const { pins: _, learning: __, ...stores } = state.stores;
  return {
    storage,
    records,
    stores,
    // Several gateways of this process write it; the state closes it.
    audit: {
      add: (event) => audit.add(event),
      flush: () => audit.flush(),
      chains: () => audit.chains(),
      close: () => audit.flush(),
    },
    openIndex: (profile) =>
      createPostgresIndex({
        client,
        table: namedFor(table, profile),
        embedder: createStaticEmbedder(),
      }),
    close: async () => {
      await state.close();
      await client.end().catch(() => {});
    },
  };
}

/** @throws CONFIG_INVALID if a variable is not set. */
export function openTypesense(
  { url, apiKey, collection = "keyhole_entries" }: Typesense,
  profile: string | undefined,
): SearchIndex {
  const variables = withSecrets(process.env);
  const key = fillSetting("index.typesense.apiKey", apiKey, variables);
  knowSecrets([key]);
  return createTypesenseIndex({
    url: fillSetting("index.typesense.url", url, variables),
    apiKey: key,
    collection: namedFor(collection, profile),
  });
}

type Typesense = Extract<NonNullable<Settings["index"]>, object>["typesense"];

/** Catalogs of different profiles need tables of their own. */
function namedFor(table: string, profile: string | undefined): string {
  return profile === undefined ? table : `${table}_${contentHash(profile).slice(0, PROFILE_CHARS)}`;
}

const PROFILE_CHARS = 8;
const DOCTOR = "keyhole doctor --config FILE looks at the database.";
