import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { createSeal, type Seal } from "../../../base/safety/seal.ts";
import { FOREVER_MS, type OpenStorage, UNBOUNDED } from "../../../base/util/storage.ts";
import { openDatabase } from "../../../core/storage/open-database.ts";
import { openSqliteStorage } from "../../../core/storage/sql-storage.ts";

/** The login to one server at one authorization server. */
export interface StoredLogin {
  readonly issuer: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** Milliseconds since 1970; undefined if unknown. */
  readonly expiresAt?: number;
}

/** Demands of a server that refused a request. */
export interface Challenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

/** Store of logins to upstream servers. No person reads the login of another, and tokens are never logged. */
export interface Logins {
  /** The logins of one person. Otherwise everyone who uses the gateway shares them. */
  of(person: string): Logins;
  /** Whether logins are sealed, which is required for those of people. */
  readonly isSealed: boolean;
  /** The login at that issuer. Default: the last saved. */
  read(server: string, issuer?: string): Promise<StoredLogin | undefined>;
  save(server: string, login: StoredLogin): Promise<void>;
  /** A person's values for `${person:NAME}`, by name. */
  values(server: string): Promise<Readonly<Record<string, string>> | undefined>;
  saveValues(server: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** When the person logged in, in milliseconds since 1970. Undefined without a login. */
  since(server: string): Promise<number | undefined>;
  /** Deletes the tokens, clients and values of a server. False if there were none. */
  forget(server: string): Promise<boolean>;
  challenge(server: string): Promise<Challenge | undefined>;
  saveChallenge(server: string, challenge: Challenge | undefined): Promise<void>;
  /** Runs work under a lock for the server, across all processes that share the store. */
  alone<T>(server: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** One secret, or several: the newest, and older ones that may have sealed something. */
export type SealKey = string | readonly [string, ...string[]];

/** The login of one owner to one server. */
interface LoginRecord {
  /** One for each issuer, the last saved first. */
  readonly logins: readonly StoredLogin[];
  readonly challenge?: Challenge | undefined;
  readonly values?: Readonly<Record<string, string>>;
  readonly since?: number;
}

const NOTHING: LoginRecord = { logins: [] };
/** Owner of the shared logins. */
const SHARED = "";
/** A lock expires after this time, in case its process died. */
const HELD_MS = 60_000;
const POLL_MS = 50;
const LASTING = { all: UNBOUNDED, perOwner: UNBOUNDED, lasting: true };

/**
 * Opens a store of logins. See {@link fromMcpConfig}.
 *
 * @example
 * ```ts
 * import { createLogins, fromMcpConfig } from "keyhole/sources";
 *
 * const logins = createLogins({ path: ":memory:" });
 * fromMcpConfig({ mcpServers: { docs: { url: "https://docs.example.com/mcp" } } }, { logins });
 * await logins.close();
 * ```
 */
export function createLogins({
  path = ":memory:",
  storage,
  sealKey,
}: {
  /** File of the logins; `:memory:` for the life of the process. */
  readonly path?: string;
  /** Storage instead of a file, for gateways on several machines. */
  readonly storage?: OpenStorage;
  /** Key that seals them. Of several, the first seals; the others only open. */
  readonly sealKey?: string | readonly [string, ...string[]] | undefined;
}): Logins {
  const seal = sealKey === undefined ? undefined : createSeal(listOf(sealKey), "keyhole logins");
  if (storage) return loginsOf(SHARED, { storage, seal, isThere: () => true, close: () => {} });
  const file = openSqliteStorage(path);
  let isMoved = path === ":memory:";
  return loginsOf(SHARED, {
    storage: (kind, options) => file.open(kind, options),
    seal,
    // Reading must not create the file.
    isThere: (isWritten) => {
      if (!isMoved && existsSync(path)) moveOldLogins(path);
      isMoved ||= isWritten || existsSync(path);
      return isMoved;
    },
    close: file.close,
  });
}

interface LoginStore {
  readonly storage: OpenStorage;
  readonly seal: Seal | undefined;
  /** Whether there may be anything to read. Called before each use. */
  isThere(isWritten: boolean): boolean;
  close(): void;
}

function loginsOf(owner: string, store: LoginStore): Logins {
  const { storage, seal, isThere } = store;
  const records = storage<string>("login", { ...LASTING, ttlMs: FOREVER_MS });
  const locks = storage<string>("login-renewal", { ...LASTING, ttlMs: HELD_MS });
  const boundTo = (server: string) => JSON.stringify([owner, server]);

  function parse(server: string, text: string | undefined): LoginRecord | undefined {
    if (text === undefined) return undefined;
    // Logins older than the key. A person's login must be sealed, because a sealed one cannot be forged.
    const isPlain = text.startsWith("{") && (!seal || owner === SHARED);
    const opened = isPlain ? text : seal?.open(text, boundTo(server));
    return opened === undefined ? undefined : (JSON.parse(opened) as LoginRecord);
  }

  const find = async (server: string): Promise<LoginRecord> =>
    (isThere(false) ? parse(server, await records.get(server, owner)) : undefined) ?? NOTHING;

  async function change(server: string, make: (record: LoginRecord) => LoginRecord): Promise<void> {
    isThere(true);
    const toText = (last?: string) => {
      const text = JSON.stringify(make(parse(server, last) ?? NOTHING));
      return seal ? seal.seal(text, boundTo(server)) : text;
    };
    // Another process may remove or add the record between the two steps.
    while (
      (await records.update(server, owner, toText)) === undefined &&
      !(await records.put(server, owner, toText()))
    );
  }

  return {
    of: (person) => loginsOf(person, store),
    isSealed: seal !== undefined,
    read: async (server, issuer) =>
      (await find(server)).logins.find((login) => issuer === undefined || login.issuer === issuer),
    save: (server, login) =>
      change(server, (record) => ({
        ...record,
        logins: [login, ...record.logins.filter(({ issuer }) => issuer !== login.issuer)],
        since: sinceOf(record) ?? Date.now(),
      })),
    values: async (server) => (await find(server)).values,
    saveValues: (server, values) =>
      change(server, (record) => ({ ...record, values, since: sinceOf(record) ?? Date.now() })),
    since: async (server) => sinceOf(await find(server)),
    forget: async (server) => {
      const { logins, values } = await find(server);
      if (isThere(false)) await records.update(server, owner, () => undefined);
      return logins.length > 0 || values !== undefined;
    },
    challenge: async (server) => (await find(server)).challenge,
    saveChallenge: async (server, challenge) => {
      if (challenge || (await find(server)).challenge)
        await change(server, (record) => ({ ...record, challenge }));
    },
    alone: async (server, work) => {
      isThere(true);
      const mine = randomUUID();
      const end = performance.now() + HELD_MS;
      while (!(await locks.put(server, owner, mine))) {
        // A clock that was set back must not lock it forever.
        if (performance.now() > end) await locks.update(server, owner, () => undefined);
        await setTimeout(POLL_MS);
      }
      try {
        return await work();
      } finally {
        await locks.update(server, owner, (holder) => (holder === mine ? undefined : holder));
      }
    },
    close: async () => store.close(),
  };
}

function sinceOf({ logins, values, since }: LoginRecord): number | undefined {
  return values || logins[0]?.tokens ? since : undefined;
}

function listOf(sealKey: SealKey): readonly [string, ...string[]] {
  return typeof sealKey === "string" ? [sealKey] : sealKey;
}

/** Tables of an older program version in this file, and their migration to the storage. */
const OLD_TABLES = [
  `CREATE TABLE logins (server TEXT NOT NULL, issuer TEXT NOT NULL, login TEXT NOT NULL, saved INTEGER NOT NULL,
     PRIMARY KEY (server, issuer)) STRICT;
   CREATE TABLE challenges (server TEXT PRIMARY KEY, challenge TEXT NOT NULL) STRICT;
   CREATE TABLE renewals (server TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;`,
  `INSERT OR IGNORE INTO stored_values
     SELECT 'login', '', server, 0, unixepoch() * 1000, sum(length(login)), 'moved',
       json_quote('' || json_object('logins', json_group_array(json(login) ORDER BY saved DESC), 'since', unixepoch() * 1000))
     FROM logins GROUP BY server;
   DROP TABLE logins; DROP TABLE challenges; DROP TABLE renewals;`,
];

/** Migrates the logins of an older program version, so that nobody has to log in again. */
function moveOldLogins(path: string): void {
  const { open, close } = openSqliteStorage(path);
  // Reading creates the table.
  void open("login", { ...LASTING, ttlMs: FOREVER_MS }).has("", "");
  close();
  openDatabase(path, "logins", OLD_TABLES).database.close();
}
