import { isFields } from "../util/fields.ts";
import type { SettingsFile } from "./settings-schema.ts";

/** Settings that an untrusted project may set; `*` is any key. */
const HARMLESS = [
  "$schema",
  "providers.default",
  "providers.*.model",
  "agent.mode",
  "skills.disabled",
  "permissions.ask",
  "permissions.deny",
];
/** Limits that an untrusted project may lower, but not raise. */
const LIMITS = [
  "agent.maxSteps",
  "agent.maxTokens",
  "agent.maxRunTokens",
  "skills.maxSkills",
  "retry.maxRetries",
];

export interface Restricted {
  readonly value: SettingsFile;
  /** Paths of the settings that were left out. */
  readonly refused: readonly (readonly string[])[];
}

/**
 * Removes settings from an untrusted project that could run commands, grant permissions, send requests and
 * their keys elsewhere, or raise a limit. The list names what may stay, so a new setting is refused until it is
 * known to be harmless.
 */
export function restrictProject(project: SettingsFile, below: object, trusted: boolean): Restricted {
  const refused: string[][] = [];
  const keep = (path: readonly string[], value: unknown, lower: unknown): boolean => {
    if (trusted || HARMLESS.some((pattern) => matches(pattern, path))) return true;
    const isLimit = LIMITS.includes(path.join("."));
    return isLimit && (typeof lower !== "number" || Number(value) <= lower);
  };
  const walk = (value: object, lower: unknown, path: readonly string[]): Record<string, unknown> => {
    const kept: [string, unknown][] = [];
    for (const [key, part] of Object.entries(value)) {
      const at = [...path, key];
      const under = isFields(lower) && Object.hasOwn(lower, key) ? lower[key] : undefined;
      if (keep(at, part, under)) kept.push([key, part]);
      else if (isFields(part) && Object.keys(part).length > 0 && isSection(at))
        kept.push([key, walk(part, under, at)]);
      else refused.push(at);
    }
    return Object.fromEntries(kept);
  };
  return { value: walk(project, below, []) as SettingsFile, refused };
}

/** Whether a setting below the path may stay. */
function isSection(path: readonly string[]): boolean {
  return [...HARMLESS, ...LIMITS].some((pattern) => {
    const parts = pattern.split(".");
    return parts.length > path.length && matches(parts.slice(0, path.length).join("."), path);
  });
}

function matches(pattern: string, path: readonly string[]): boolean {
  const parts = pattern.split(".");
  return parts.length === path.length && parts.every((part, index) => part === "*" || part === path[index]);
}
