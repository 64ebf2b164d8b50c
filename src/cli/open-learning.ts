import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LearningOptions } from "../search/learning/learning.ts";
import { contentHash } from "../util/content-hash.ts";
import { setStateFolder } from "./user-folders.ts";

/** Keeps what is learned of a config for the next start, in a folder of the user, if shortcuts are made of it. */
export function openLearning(
  config: string,
  profile = "",
  learnedShortcuts = 0,
): { readonly learning?: LearningOptions } {
  if (learnedShortcuts <= 0) return {};
  const folder = join(setStateFolder(), "learning");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // A log that cannot be written is silent.
  }
  return { learning: { log: join(folder, `${contentHash([config, profile]).slice(0, 16)}.jsonl`) } };
}
