import { claudeCode } from "./clients/claude-code.ts";
import { codex } from "./clients/codex.ts";
import { copilot } from "./clients/copilot.ts";
import { gemini } from "./clients/gemini.ts";
import { opencode } from "./clients/opencode.ts";
import { qwen } from "./clients/qwen.ts";
import type { LabClient } from "./lab-client.ts";

/** The clients of the lab. */
export const LAB_CLIENTS: readonly LabClient[] = [claudeCode, gemini, codex, copilot, opencode, qwen];

export function findClient(name: string): LabClient | undefined {
  return LAB_CLIENTS.find((client) => client.name === name);
}
