import { createHash } from "node:crypto";
import { z } from "zod";
import { createRecordStore } from "../../core/access/record-store.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { generateToken } from "../../faces/mcp/generate-token.ts";

const tokenSchema = z.object({
  /** Unique. */
  name: z.string(),
  scopes: z.array(z.string()),
  allowWrite: z.boolean(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Milliseconds since 1970. Without it, the token is valid until it is revoked. */
  expiresAt: z.number().optional(),
});

/** A bearer token of one agent, without the token itself. */
export type AgentToken = z.infer<typeof tokenSchema>;
type NewAgentToken = Omit<AgentToken, "createdAt">;

/** The principal that calls with a token of this name. */
export function principalOf({ name, scopes, allowWrite }: NewAgentToken): Principal {
  return { id: `agent:${name}`, scopes, allowWrite };
}

/** Keeps the tokens that agents call a gateway with in a file, by their hashes. Each is a principal of its own. */
export function createAgentTokens(path: string, now: () => number = Date.now) {
  const store = createRecordStore({ path, record: tokenSchema, counted: "valid" });
  const keyOf = (name: string) => store.keys().find((key) => store.get(key)?.name === name);
  return {
    /** Set if the store was damaged, so that no token is valid. */
    get damage() {
      return store.damage;
    },
    /** Makes a token and returns it. Only its hash is kept. Undefined if the name is taken. */
    add: async (token: NewAgentToken) => {
      await store.refresh();
      if (keyOf(token.name) !== undefined) return undefined;
      const secret = generateToken();
      const record = tokenSchema.parse({ ...token, createdAt: now() });
      await store.change(new Map([[hashOf(secret), record]]));
      return secret;
    },
    /** All tokens by name, expired ones included. */
    list: (): readonly AgentToken[] => {
      void store.refresh();
      return store
        .keys()
        .flatMap((key) => store.get(key) ?? [])
        .sort((left, right) => (left.name < right.name ? -1 : 1));
    },
    /** Resolves to false if there is no such token. */
    revoke: async (name: string) => {
      await store.refresh();
      const key = keyOf(name);
      if (key === undefined) return false;
      await store.change(new Map([[key, undefined]]));
      return true;
    },
    /** The principal of a token that is valid now. Reads the store, so that changes by others count. */
    find: (token: string): Principal | undefined => {
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
