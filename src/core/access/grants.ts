import { z } from "zod";
import { LANES } from "../nouns/entry.ts";
import { openRecords, type RecordStorage, type Records } from "../storage/records.ts";

const hash = z.string();
/** Milliseconds since 1970. */
const givenAt = z.number();

/**
 * A person's approvals, by kind. Each counts only for exactly what was shown. Calls also wait here for their answer.
 */
const GRANTS = {
  /** A server may run a program. Key: hash of everything that it runs. */
  program: z.object({ givenAt, label: z.string() }),
  /** The limits of a server's process. Key: hash of everything that it runs. Includes what it asked for. */
  limits: z.object({
    label: z.string(),
    hosts: z.array(z.string()),
    paths: z.array(z.string()),
    /** The limits that the person accepted. */
    sandbox: z
      .object({
        folders: z.array(z.string()).readonly().optional(),
        network: z.union([z.enum(["all", "none"]), z.array(z.string()).readonly()]).optional(),
      })
      .optional(),
    givenAt: givenAt.optional(),
  }),
  /** A definition of a server may be shown and called. Key: source, route and program. */
  definition: z.object({
    givenAt,
    hash,
    definition: z.record(z.string(), z.unknown()),
    /** The lane that the person set for exactly this definition. */
    lane: z.enum(LANES).optional(),
  }),
  /** Everything executable in a folder may run. Key: real path of the folder. */
  folder: z.object({ givenAt, hash }),
  /** An agent may call over HTTP. Key: name of the agent. */
  agent: z.object({
    givenAt,
    /** SHA-256 of the agent's token. */
    hash,
    scopes: z.array(z.string()),
    allowWrite: z.boolean(),
    /** The only profile that the agent may use. Without it, all servers. */
    profile: z.string().exactOptional(),
    /** Milliseconds since 1970. Without it, the token is valid until it is revoked. */
    expiresAt: z.number().optional(),
  }),
  /** A call may run once. Key: the name under which it waits. Without an answer it still waits. */
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

/** All grants of one kind, as last read. All kinds share one file or database. */
export type Grants<K extends GrantKind> = Records<Grant<K>>;

/** Opens grants. They are empty until the first `refresh`. */
export function openGrants<K extends GrantKind>(storage: RecordStorage, kind: K): Grants<K> {
  return openRecords(storage, kind, GRANTS[kind] as unknown as z.ZodType<Grant<K>>);
}

/** Opens grants and reads them. If they cannot be read they are empty until they can, and `damage` says why. */
export function openGrantsNow<K extends GrantKind>(storage: RecordStorage, kind: K): Grants<K> {
  const grants = openGrants(storage, kind);
  try {
    void grants.refresh();
  } catch {
    // `damage` has the reason.
  }
  return grants;
}

/** Changes that remove these grants. */
export function revoked(keys: readonly string[]): ReadonlyMap<string, undefined> {
  return new Map(keys.map((key) => [key, undefined]));
}
