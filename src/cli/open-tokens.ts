import { join } from "node:path";
import { type AgentTokens, createAgentTokens } from "../access/agent-tokens.ts";
import { setStateFolder } from "./user-folders.ts";

/** Opens the tokens of agents that all commands share. */
export function openTokens(): AgentTokens {
  const tokens = createAgentTokens(join(setStateFolder(), "tokens.json"));
  if (tokens.damage) console.error(tokens.damage);
  return tokens;
}
