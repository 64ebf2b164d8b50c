import { createHash } from "node:crypto";
import { type Grant, type Grants, revoked } from "../../core/access/grants.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { generateToken } from "../../faces/mcp/generate-token.ts";

/** A bearer token of one agent, without the token itself. */
export interface AgentToken extends Omit<Grant<"agent">, "hash" | "givenAt"> {
  /** Unique among the keys of today. */
  readonly name: string;
  /** Unique for ever: another key of the same name is another caller. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}
type NewAgentToken = Omit<AgentToken, "id" | "createdAt">;

/** The principal that calls with a token. */
export function principalOf({ id, scopes, allowWrite, profile }: AgentToken): Principal {
  return { id, scopes, allowWrite, ...(profile !== undefined && { profile }) };
}

/** Ids go on with this and a part of the key's hash. */
export const KEY_MARK = "#";

function toToken(name: string, { hash, givenAt: createdAt, ...agent }: Grant<"agent">): AgentToken {
  return { name, id: `agent:${name}${KEY_MARK}${hash.slice(0, 8)}`, ...agent, createdAt };
}

/** The tokens that agents call a gateway with, of which only the hashes are kept. Each is a principal of its own. */
export function createAgentTokens(grants: Grants<"agent">, now: () => number = Date.now) {
  /** All agents by name, as they are now: changes by others count at once. */
  const agents = async () => {
    await grants.refresh();
    return grants.entries();
  };
  return {
    /** Makes a token and returns it. Undefined if the name is taken. */
    add: async ({ name, scopes, allowWrite, profile, expiresAt }: NewAgentToken) => {
      const secret = generateToken();
      const agent = {
        givenAt: now(),
        hash: hashOf(secret),
        scopes,
        allowWrite,
        ...(profile !== undefined && { profile }),
        ...(expiresAt !== undefined && { expiresAt }),
      };
      return (await grants.add(name, agent)) ? secret : undefined;
    },
    /** All tokens by name, expired ones included. */
    list: async (): Promise<readonly AgentToken[]> =>
      [...(await agents())]
        .map(([name, agent]) => toToken(name, agent))
        .sort((left, right) => (left.name < right.name ? -1 : 1)),
    /** Resolves to false if there is no such token. */
    revoke: async (name: string) => (await grants.change(revoked([name]))) > 0,
    /** The principal of a token that is valid now. */
    find: async (token: string): Promise<Principal | undefined> => {
      // Hashes are compared, so timing reveals nothing about a token.
      const hash = hashOf(token);
      const [name, agent] = (await agents()).entries().find(([, one]) => one.hash === hash) ?? [];
      if (name === undefined || !agent) return undefined;
      return agent.expiresAt !== undefined && agent.expiresAt <= now()
        ? undefined
        : principalOf(toToken(name, agent));
    },
  };
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
