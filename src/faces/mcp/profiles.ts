import { problem } from "../../base/problems/problem.ts";
import { keepSubjectToken, subjectTokenOf } from "../../core/access/subject-tokens.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { McpServer } from "./mcp-server.ts";

/** A profile that is served: a choice of servers and tools, with a gateway of its own. */
export interface ServedProfile {
  readonly gateway: Gateway;
  readonly server: McpServer;
  /** False: nobody writes here, whatever their own rights are. */
  readonly allowWrite: boolean;
}

/** The profiles of a server, each at an address of its own. */
export interface ServedProfiles {
  /** The names of the profiles of now. */
  names(): readonly string[];
  /** Opens a profile with its first caller. Undefined for one that does not exist, or not any more. */
  open(name: string): Promise<ServedProfile | undefined>;
}

/** The path of a profile below that of the server. */
export function profilePath(path: string, profile: string): string {
  return `${path}/p/${encodeURIComponent(profile)}`;
}

/** The profile that a request is addressed to. Undefined for the server's own address. */
export function addressedProfile(url: string | undefined, path: string): string | undefined {
  const [pathname = ""] = (url ?? "").split("?", 1);
  const prefix = `${path}/p/`;
  return pathname.startsWith(prefix) ? decode(pathname.slice(prefix.length)) : undefined;
}

/** A wrong escape names no profile, so it stays as it is. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The profile that serves a caller, with the rights that caller and profile both allow: the caller's own profile, or
 * else that of the address. Undefined if there is neither. An undefined principal is the owner, whose rights the
 * gateway of the profile knows.
 *
 * @throws PROFILE_REFUSED for another profile than the caller's, and for one that does not exist.
 */
export async function enterProfile(
  profiles: ServedProfiles | undefined,
  principal: Principal | undefined,
  addressed?: string,
): Promise<(ServedProfile & { readonly principal: Principal | undefined }) | undefined> {
  const pinned = principal?.profile;
  const name = pinned ?? addressed;
  if (name === undefined) return undefined;
  if (addressed !== undefined && addressed !== name)
    throw problem("PROFILE_REFUSED", { name: addressed, reason: `you have the profile ${name}` });
  const profile = await profiles?.open(name);
  if (!profile) throw problem("PROFILE_REFUSED", { name, reason: "it does not exist" });
  return { ...profile, principal: principal && within(principal, profile) };
}

function within(principal: Principal, { allowWrite }: ServedProfile): Principal {
  const limited = { ...principal, allowWrite: principal.allowWrite && allowWrite };
  const token = subjectTokenOf(principal);
  if (token !== undefined) keepSubjectToken(limited, token);
  return limited;
}
