import { contentHash } from "../../base/util/content-hash.ts";
import { type AgentToken, type createAgentTokens, principalOf } from "./agent-tokens.ts";
import { recordDecisions } from "./stores.ts";

type AgentTokens = ReturnType<typeof createAgentTokens>;

/** Names become part of principals and file names, so they are plain. */
export const AGENT_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

type RecordedBy = Parameters<typeof recordDecisions>[3];

/** Makes a key of an agent, which the audit log records. Undefined if the name is taken. */
export async function addAgentKey(
  tokens: AgentTokens,
  wanted: Omit<AgentToken, "id" | "createdAt">,
  recorded?: RecordedBy,
): Promise<string | undefined> {
  const key = await tokens.add(wanted);
  if (key === undefined) return undefined;
  const digest = contentHash(await tokens.find(key));
  await recordDecisions("allowed", "token", [{ name: wanted.name, digest }], recorded);
  return key;
}

/** Takes the key of an agent back, which the audit log records. False if there is none. */
export async function revokeAgentKey(
  tokens: AgentTokens,
  name: string,
  recorded?: RecordedBy,
): Promise<boolean> {
  const token = (await tokens.list()).find((one) => one.name === name);
  if (!token || !(await tokens.revoke(name))) return false;
  await recordDecisions("revoked", "token", [{ name, digest: contentHash(principalOf(token)) }], recorded);
  return true;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Reads a time from now (`90m`, `12h`, `30d`, `8w`) or a date. Undefined unless it lies in the future. */
export function readExpiry(text: string, now: number): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text.trim());
  const time = unit ? now + Number(count) * UNITS_MS[unit]! : isDate ? Date.parse(text.trim()) : Number.NaN;
  return time > now ? time : undefined;
}
