import { isFields } from "../util/fields.ts";
import type { SettingsFile } from "./settings-schema.ts";

/** What the settings of a project may say before anybody has looked at them, `*` being any key. */
const HARMLESS = [
  "$schema",
  "providers.default",
  "providers.*.model",
  "agent.mode",
  "skills.disabled",
  "permissions.ask",
  "permissions.deny",
];
/** What may be set to less than it is, but not to more. */
const LIMITS = ["agent.maxSteps", "agent.maxTokens", "skills.maxSkills", "retry.maxRetries"];
/** What only the person may say, however much they trust a project. */
const PERSONAL = ["trustedFolders"];

export interface Restricted {
  readonly value: SettingsFile;
  /** Paths of what was left out. */
  readonly refused: readonly (readonly string[])[];
}

/**
 * Leaves out of a project's settings what could run commands, allow something, lead requests and the keys in
 * them elsewhere, or raise a limit. The list names what may stay, so that a new setting is refused until it is
 * known to be harmless.
 */
export function restrictProject(project: SettingsFile, below: object, trusted: boolean): Restricted {
  const refused: string[][] = [];
  const keep = (path: readonly string[], value: unknown, lower: unknown): boolean => {
    if (path.length === 1 && PERSONAL.includes(path[0]!)) return false;
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

/** Whether something below the path may stay. */
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
