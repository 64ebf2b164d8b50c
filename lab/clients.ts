import { claudeCode } from "./clients/claude-code.ts";
import { cline } from "./clients/cline.ts";
import { codex } from "./clients/codex.ts";
import { continueCli } from "./clients/continue.ts";
import { copilot } from "./clients/copilot.ts";
import { droid } from "./clients/droid.ts";
import { gemini } from "./clients/gemini.ts";
import { kilo } from "./clients/kilo.ts";
import { kimi } from "./clients/kimi.ts";
import { opencode } from "./clients/opencode.ts";
import { pi } from "./clients/pi.ts";
import { qwen } from "./clients/qwen.ts";
import type { LabClient } from "./lab-client.ts";

/** The clients of the lab. */
export const LAB_CLIENTS: readonly LabClient[] = [
  claudeCode,
  gemini,
  codex,
  copilot,
  opencode,
  qwen,
  kimi,
  continueCli,
  kilo,
  droid,
  cline,
  pi,
];

export function findClient(name: string): LabClient | undefined {
  return LAB_CLIENTS.find((client) => client.name === name);
}
