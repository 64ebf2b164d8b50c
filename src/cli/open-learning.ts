import { join } from "node:path";
import type { Settings } from "../config/settings-schema.ts";
import type { GatewayOptions } from "../gateway-api.ts";
import { setStateFolder } from "./user-folders.ts";

/** The log of learning, which all commands share. */
export function learningFile(): string {
  return join(setStateFolder(), "learning.jsonl");
}

/** How the program learns from use: what it has learned outlives the process unless the settings switch it off. */
export function openLearning({ enabled }: Settings["learning"]): NonNullable<GatewayOptions["learning"]> {
  return enabled ? { log: learningFile() } : false;
}
