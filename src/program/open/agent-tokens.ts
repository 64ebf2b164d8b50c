import { createHash } from "node:crypto";
import { z } from "zod";
import { createRecordStore } from "../../core/access/record-store.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { generateToken } from "../../faces/mcp/generate-token.ts";

/** A bearer token of one agent, without the token itself. */
export interface AgentToken {
  /** Unique. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly allowWrite: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. Without it, the token is valid until it is revoked. */
  readonly expiresAt?: number | undefined;
}

export type NewAgentToken = Omit<AgentToken, "createdAt">;

/** The tokens that agents call a gateway with. Each stands for a principal of its own. */
export interface AgentTokens {
  /** Makes a token and returns it. Only its hash is kept. Undefined if the name is taken. */
  add(token: NewAgentToken): Promise<string | undefined>;
  /** All tokens by name, expired ones included. */
  list(): readonly AgentToken[];
  /** Resolves to false if there is no such token. */
  revoke(name: string): Promise<boolean>;
  /** The principal of a token that is valid now. Reads the store, so that changes by others count. */
  find(token: string): Principal | undefined;
  /** Set if the store was damaged, so that no token is valid. */
  readonly damage: string | undefined;
}

const tokenSchema = z.object({
  name: z.string(),
  scopes: z.array(z.string()),
  allowWrite: z.boolean(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
});

/** The principal that calls with a token of this name. */
export function principalOf({ name, scopes, allowWrite }: NewAgentToken): Principal {
  return { id: `agent:${name}`, scopes, allowWrite };
}

/** Keeps tokens in a file, by their hashes. */
export function createAgentTokens(path: string, now: () => number = Date.now): AgentTokens {
  const store = createRecordStore({ path, record: tokenSchema, counted: "valid" });
  const keyOf = (name: string) => store.keys().find((key) => store.get(key)?.name === name);
  return {
    get damage() {
      return store.damage;
    },
    add: async (token) => {
      await store.refresh();
      if (keyOf(token.name) !== undefined) return undefined;
      const secret = generateToken();
      const record = tokenSchema.parse({ ...token, createdAt: now() });
      await store.change(new Map([[hashOf(secret), record]]));
      return secret;
    },
    list: () => {
      void store.refresh();
      return store
        .keys()
        .flatMap((key) => store.get(key) ?? [])
        .sort((left, right) => (left.name < right.name ? -1 : 1));
    },
    revoke: async (name) => {
      await store.refresh();
      const key = keyOf(name);
      if (key === undefined) return false;
      await store.change(new Map([[key, undefined]]));
      return true;
    },
    find: (token) => {
      void store.refresh();
      // The hash is looked up, so timing reveals nothing about a token.
      const record = store.get(hashOf(token));
      if (!record || (record.expiresAt !== undefined && record.expiresAt <= now())) return undefined;
      return principalOf(record);
    },
  };
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
