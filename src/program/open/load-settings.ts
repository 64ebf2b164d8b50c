import { homedir } from "node:os";
import { resolve } from "node:path";
import { realFolder } from "../../agent/loop/project-files.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { settingsPath } from "./config-files.ts";
import { type EnvVariables, envSettings } from "./env-settings.ts";
import { isTrusted } from "./folder-trust.ts";
import { mergeSettings } from "./merge-settings.ts";
import { type ReadSettings, readSettingsFile } from "./read-settings-file.ts";
import {
  DEFAULT_SETTINGS,
  type PermissionLists,
  type Settings,
  type SettingsFile,
} from "./settings-schema.ts";

export interface LoadOptions {
  readonly home?: string;
  readonly project?: string;
  readonly env?: EnvVariables;
  /** A JSON config that the person has named. Its settings win over those of files, and its servers are the only ones. */
  readonly config?: string | undefined;
  /** The settings loaded before. A file that is wrong now keeps its previous values. */
  readonly last?: LoadedSettings;
}

export interface SettingsSource {
  readonly from: "user" | "project" | "config" | "environment";
  /** The file; for the environment, the names of the variables. */
  readonly path: string;
  /** `kept`: the file is wrong and keeps its previous values. `ignored`: it is wrong and has none. */
  readonly state: "read" | "missing" | "kept" | "ignored";
  readonly value: SettingsFile;
  /** The names of the sections of an ignored file. */
  readonly sections?: readonly string[];
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly sources: readonly SettingsSource[];
  readonly problems: readonly Problem[];
  /** Whether a person has trusted the project's folder as it is now, so that it may set everything. */
  readonly trusted: boolean;
}

/**
 * Loads the settings: defaults ← the user's file ← the project's file ← a named config ← the environment. Never throws.
 */
export async function loadSettings({
  home = homedir(),
  project = process.cwd(),
  env = process.env,
  config,
  last,
}: LoadOptions = {}): Promise<LoadedSettings> {
  const userFile = settingsPath(home);
  const projectFile = settingsPath(project);
  const isOwn = config !== undefined && resolve(config) === userFile;
  const isOneFile = (await realFolder(home)) === (await realFolder(project));
  const [readUser, readProject, readNamed] = await Promise.all([
    readSettingsFile(userFile),
    isOneFile ? MISSING : readSettingsFile(projectFile),
    isOwn || config === undefined ? MISSING : readSettingsFile(config, { isForeign: true }),
  ]);
  const user = toSource("user", userFile, readUser, last);
  const below = mergeSettings<object>(DEFAULT_SETTINGS, user.value);
  const trusted = await isTrusted(project);
  const given = toSource("project", projectFile, readProject, last);
  const { value, refused } = restrictProject(given.value, below, trusted);
  const named = isOwn ? user : toSource("config", config ?? "", readNamed, last);
  const files = mergeSettings<object>(below, value);
  const merged = withNamed(files, named, config) as Omit<Settings, "permissions">;
  const isChosen = [user.value, value, named.value].some(({ providers }) => providers?.default !== undefined);
  const environment = envSettings(env, merged, isChosen);
  const sources: SettingsSource[] = [
    user,
    given,
    ...(isOwn || config === undefined ? [] : [named]),
    { from: "environment", path: environment.names.join(" "), state: "read", value: environment.value },
  ];
  const untrusted = refused.map(async (path) => {
    const at = readProject.state === "read" ? await readProject.positionOf(path) : { line: 1, column: 1 };
    const fills = { file: projectFile, ...at, setting: path.join("."), folder: resolve(project) };
    return problem("FOLDER_NOT_TRUSTED", fills, { file: projectFile, ...at, path });
  });
  // An unreadable file may contain deny rules, so no allow rule counts.
  const isSure = sources.every(({ state }) => state !== "ignored");
  const rulesOf = (...files: readonly SettingsFile[]): PermissionLists => ({
    allow: isSure ? files.flatMap(({ permissions }) => permissions?.allow ?? []) : [],
    ask: files.flatMap(({ permissions }) => permissions?.ask ?? []),
    deny: files.flatMap(({ permissions }) => permissions?.deny ?? []),
  });
  const own = rulesOf(user.value, ...(isOwn ? [] : [named.value]));
  const here = isSure ? (user.value?.permissions?.folders?.[resolve(project)] ?? []) : [];
  const permissions = { user: { ...own, allow: [...own.allow, ...here] }, project: rulesOf(value) };
  return {
    settings: { ...mergeSettings(merged, environment.value), permissions } as Settings,
    sources,
    problems: [
      ...[readUser, readProject, readNamed].flatMap((read) => (read.state === "wrong" ? read.problems : [])),
      ...(await Promise.all(untrusted)),
      ...environment.problems,
    ],
    trusted,
  };
}

const MISSING = { state: "missing" } as const;

/** A named config is all that counts for servers, also if it has none. */
function withNamed(files: object, { value }: SettingsSource, config: string | undefined): object {
  if (config === undefined) return files;
  const { mcpServers: _, overrides: __, profiles: ___, ...others } = files as Settings;
  return mergeSettings<object>({ ...others, mcpServers: {}, overrides: {}, profiles: {} }, value);
}

function toSource(
  from: "user" | "project" | "config",
  path: string,
  read: ReadSettings,
  last: LoadedSettings | undefined,
): SettingsSource {
  if (read.state === "missing") return { from, path, state: "missing", value: {} };
  if (read.state === "read") return { from, path, state: "read", value: read.value };
  const before = last?.sources.find((source) => source.from === from && source.path === path);
  if (!before || before.state === "ignored")
    return { from, path, state: "ignored", value: {}, sections: read.sections };
  return { from, path, state: "kept", value: before.value };
}

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

/**
 * Removes settings from an untrusted project that could run commands, grant permissions, send requests and
 * their keys elsewhere, or raise a limit. The list names what may stay, so a new setting is refused until it is
 * known to be harmless.
 */
function restrictProject(project: SettingsFile, below: object, trusted: boolean) {
  /** Paths of the settings that were left out. */
  const refused: string[][] = [];
  const keep = (path: readonly string[], value: unknown, lower: unknown): boolean => {
    if (trusted || HARMLESS.some((pattern) => matches(pattern.split("."), path))) return true;
    const isLimit = LIMITS.includes(path.join("."));
    return isLimit && (typeof lower !== "number" || Number(value) <= lower);
  };
  const walk = (value: object, lower: unknown, path: readonly string[]): Record<string, unknown> => {
    const kept: [string, unknown][] = [];
    for (const [key, part] of Object.entries(value)) {
      const at = [...path, key];
      const under = isPlainObject(lower) && Object.hasOwn(lower, key) ? lower[key] : undefined;
      if (keep(at, part, under)) kept.push([key, part]);
      else if (isPlainObject(part) && Object.keys(part).length > 0 && mayHoldHarmless(at))
        kept.push([key, walk(part, under, at)]);
      else refused.push(at);
    }
    return Object.fromEntries(kept);
  };
  return { value: walk(project, below, []) as SettingsFile, refused };
}

function mayHoldHarmless(path: readonly string[]): boolean {
  return [...HARMLESS, ...LIMITS].some((pattern) => {
    const parts = pattern.split(".");
    return parts.length > path.length && matches(parts.slice(0, path.length), path);
  });
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length && pattern.every((part, index) => part === "*" || part === path[index])
  );
}
