import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { openDatabase } from "../../../core/storage/open-database.ts";

/** The login to one server at one authorization server. */
export interface KeptLogin {
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

/** Store of logins to upstream servers. Only the owner can read the file; tokens are never logged. */
export interface Logins {
  /** Returns the login at that issuer. Default: the one saved last. */
  read(server: string, issuer?: string): Promise<KeptLogin | undefined>;
  save(server: string, login: KeptLogin): Promise<void>;
  /** Deletes the tokens and clients of a server. Returns false if there were none. */
  forget(server: string): Promise<boolean>;
  challenge(server: string): Promise<Challenge | undefined>;
  saveChallenge(server: string, challenge: Challenge | undefined): Promise<void>;
  /** Runs the work while holding a lock for the server across all processes that share the file. */
  alone<T>(server: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MIGRATIONS = [
  `CREATE TABLE logins (server TEXT NOT NULL, issuer TEXT NOT NULL, login TEXT NOT NULL, saved INTEGER NOT NULL,
     PRIMARY KEY (server, issuer)) STRICT;
   CREATE TABLE challenges (server TEXT PRIMARY KEY, challenge TEXT NOT NULL) STRICT;
   CREATE TABLE renewals (server TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;`,
];
/** A lock expires after this time, because its process may have died. */
const HELD_MS = 60_000;
const POLL_MS = 50;

/**
 * Opens a store of logins. `:memory:` as the path keeps them for the life of the process. See {@link fromMcpConfig}.
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
export function createLogins({ path }: { readonly path: string }): Logins {
  const owner = randomUUID();
  let connection: DatabaseSync | undefined;

  function open(): DatabaseSync {
    connection ??= openDatabase(path, "logins", MIGRATIONS).database;
    return connection;
  }

  /** Reading must not create the file. */
  function look(): DatabaseSync | undefined {
    return connection || path === ":memory:" || existsSync(path) ? open() : undefined;
  }

  let reading: StatementSync | undefined;

  return {
    // Prepared once, because it runs before every request.
    read: async (server, issuer) => {
      reading ??= look()?.prepare(
        "SELECT login FROM logins WHERE server = ?1 AND (?2 IS NULL OR issuer = ?2) ORDER BY saved DESC, rowid DESC LIMIT 1",
      );
      const row = reading?.get(server, issuer ?? null);
      return row && (JSON.parse(String(row.login)) as KeptLogin);
    },
    save: async (server, login) => {
      open()
        .prepare(
          `INSERT INTO logins VALUES (?, ?, ?, (SELECT coalesce(max(saved), 0) + 1 FROM logins))
           ON CONFLICT (server, issuer) DO UPDATE SET login = excluded.login, saved = excluded.saved`,
        )
        .run(server, login.issuer, JSON.stringify(login));
    },
    forget: async (server) => {
      const database = look();
      database?.prepare("DELETE FROM challenges WHERE server = ?").run(server);
      return Number(database?.prepare("DELETE FROM logins WHERE server = ?").run(server).changes ?? 0) > 0;
    },
    challenge: async (server) => {
      const row = look()?.prepare("SELECT challenge FROM challenges WHERE server = ?").get(server);
      return row && (JSON.parse(String(row.challenge)) as Challenge);
    },
    saveChallenge: async (server, challenge) => {
      const database = challenge ? open() : look();
      if (!challenge) return void database?.prepare("DELETE FROM challenges WHERE server = ?").run(server);
      database
        ?.prepare(
          "INSERT INTO challenges VALUES (?, ?) ON CONFLICT (server) DO UPDATE SET challenge = excluded.challenge",
        )
        .run(server, JSON.stringify(challenge));
    },
    alone: async (server, work) => {
      const database = open();
      const take = database.prepare(
        `INSERT INTO renewals VALUES (?1, ?2, ?3)
         ON CONFLICT (server) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE until < ?4`,
      );
      const end = performance.now() + HELD_MS;
      while (take.run(server, owner, Date.now() + HELD_MS, Date.now()).changes === 0) {
        // A clock that was set back must not lock it forever.
        if (performance.now() > end) database.prepare("DELETE FROM renewals WHERE server = ?").run(server);
        await setTimeout(POLL_MS);
      }
      try {
        return await work();
      } finally {
        database.prepare("DELETE FROM renewals WHERE server = ? AND owner = ?").run(server, owner);
      }
    },
    close: async () => {
      connection?.close();
      connection = undefined;
      reading = undefined;
    },
  };
}
