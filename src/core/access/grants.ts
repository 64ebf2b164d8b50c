import { z } from "zod";
import { LANES } from "../nouns/entry.ts";
import { openRecords, type RecordStorage, type Records } from "../storage/records.ts";

const hash = z.string();
/** Milliseconds since 1970. */
const givenAt = z.number();

/** A person's yes, by kind. Each counts for exactly what the person was shown. Calls wait here for their answer. */
const GRANTS = {
  /** A server may run a program, by the hash of everything that it runs. */
  program: z.object({ givenAt, label: z.string() }),
  /** The limits of a server's process, by the hash of everything that it runs, and what it asked for. */
  limits: z.object({
    label: z.string(),
    hosts: z.array(z.string()),
    paths: z.array(z.string()),
    /** The limits that the person has accepted. */
    sandbox: z
      .object({
        folders: z.array(z.string()).readonly().optional(),
        network: z.union([z.enum(["all", "none"]), z.array(z.string()).readonly()]).optional(),
      })
      .optional(),
    givenAt: givenAt.optional(),
  }),
  /** A definition of a server may be shown and called, by source, route and program. */
  definition: z.object({
    givenAt,
    hash,
    definition: z.record(z.string(), z.unknown()),
    /** The lane that the person marked exactly this definition with. */
    lane: z.enum(LANES).optional(),
  }),
  /** Everything in a folder that can run may run, by the folder's real path. */
  folder: z.object({ givenAt, hash }),
  /** An agent may call over HTTP, by the agent's name. */
  agent: z.object({
    givenAt,
    /** SHA-256 of the agent's token. */
    hash,
    scopes: z.array(z.string()),
    allowWrite: z.boolean(),
    /** The profile that the agent is pinned to. Without it, the agent has all servers. */
    profile: z.string().exactOptional(),
    /** Milliseconds since 1970. Without it, the token is valid until it is revoked. */
    expiresAt: z.number().optional(),
  }),
  /** A call may run once, by the name under which it waits. Without an answer, it waits for a person. */
  call: z.object({
    op: z.string(),
    args: z.record(z.string(), z.unknown()),
    hash,
    why: z.string(),
    steeredBy: z.string().exactOptional(),
    principal: z.string(),
    /** Milliseconds since 1970. */
    askedAt: z.number(),
    expiresAt: z.number(),
    approvedBy: z.string().exactOptional(),
    declinedBy: z.string().exactOptional(),
  }),
};

export type GrantKind = keyof typeof GRANTS;
export const GRANT_KINDS = Object.keys(GRANTS) as readonly GrantKind[];
export type Grant<K extends GrantKind> = z.infer<(typeof GRANTS)[K]>;

/** All grants of one kind, as last read. One file, or one database, holds all kinds. */
export type Grants<K extends GrantKind> = Records<Grant<K>>;

/** Opens grants. None counts before the first `refresh`. */
export function openGrants<K extends GrantKind>(storage: RecordStorage, kind: K): Grants<K> {
  return openRecords(storage, kind, GRANTS[kind] as unknown as z.ZodType<Grant<K>>);
}

/** Opens grants as they are now. If they cannot be read, none counts until they can, and `damage` says so. */
export function openGrantsNow<K extends GrantKind>(storage: RecordStorage, kind: K): Grants<K> {
  const grants = openGrants(storage, kind);
  try {
    void grants.refresh();
  } catch {
    // `damage` says it.
  }
  return grants;
}

/** The changes that take grants back. */
export function revoked(keys: readonly string[]): ReadonlyMap<string, undefined> {
  return new Map(keys.map((key) => [key, undefined]));
}
