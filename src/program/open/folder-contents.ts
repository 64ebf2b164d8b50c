import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { COMMAND_FOLDERS, markdownIn } from "../../agent/chat/custom-commands.ts";
import { AGENT_FOLDERS } from "../../agent/chat/named-agents.ts";
import { promptPath } from "../../agent/chat/system-prompt.ts";
import { readAgentsFiles } from "../../agent/loop/agents-files.ts";
import { realFolder } from "../../agent/loop/project-files.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { skillPlaces } from "../../sources/markdown/skills/skill.ts";
import { codeFiles, isFile } from "./code-files.ts";
import { DEFAULT_CONFIGS, settingsPath } from "./config-files.ts";
import { readSettingsFile } from "./read-settings-file.ts";

/** A file that runs, or decides what runs. */
export interface FolderFile {
  readonly path: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly why: "config" | "code" | "packages" | "settings" | "skill";
}

/** Everything of a folder that Keyhole would run, start or show a model. */
export interface FolderContents {
  /** Real path. */
  readonly folder: string;
  readonly files: readonly FolderFile[];
  /** Files whose text would reach a model. Trust covers them whatever they say. */
  readonly texts: readonly string[];
  /** SHA-256 over the files. Trust ends when it changes. */
  readonly hash: string;
}

const PACKAGES = ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"];

/** Finds what a folder would run. Reads files and runs nothing. */
export async function folderContents(given: string): Promise<FolderContents> {
  const folder = await realFolder(given);
  const skills = await skillFiles(folder);
  // In the home folder, settings and prompt are the person's own, and no project's.
  const isHome = folder === (await realFolder(homedir()));
  const config = (await existing(folder, DEFAULT_CONFIGS)).slice(0, 1);
  const programs = skills.filter(isProgram);
  const hooks = isHome ? [] : await hookFiles(folder);
  const { code, manifests } = await codeFiles([...config, ...programs, ...hooks]);
  const packages = config.length > 0 ? await existing(folder, PACKAGES) : [];
  const named = [
    ...because("config", config),
    ...because(
      "code",
      code.filter((path) => ![...config, ...programs].includes(path)),
    ),
    ...because("packages", [...new Set([...packages, ...manifests])]),
    ...because("settings", await existing(folder, isHome ? [] : [settingsPath(folder)])),
    ...because("skill", programs),
  ];
  const files: FolderFile[] = [];
  for (const { path, why } of named) files.push({ path, why, hash: await hashFile(path) });
  const instructions = (await readAgentsFiles(folder)).map(({ path }) => path);
  return {
    folder,
    files,
    texts: [
      ...(await existing(folder, [...instructions, ...(isHome ? [] : [promptPath(folder)])])),
      ...skills.filter((path) => !isProgram(path)),
      ...(isHome ? [] : await commandFiles(folder)),
    ],
    hash: contentHash(files.map(({ path, hash }) => [path, hash])),
  };
}

function because(why: FolderFile["why"], paths: readonly string[]) {
  return paths.map((path) => ({ path, why }));
}

/** Files that the commands of the project's hooks name. */
async function hookFiles(folder: string): Promise<string[]> {
  const settings = await readSettingsFile(settingsPath(folder));
  const commands =
    settings.state === "read" ? (settings.value.hooks ?? []).map(({ command }) => command) : [];
  const words = commands
    .flatMap((command) => command.split(/[\s"'`;|&()<>=]+/))
    .filter((word) => word !== "");
  return (await existing(folder, [...new Set(words)])).filter(isProgram);
}

/** Files of the project's skills, also in folders that its settings name. Links are left out, as by their reader. */
async function skillFiles(folder: string): Promise<string[]> {
  const settings = await readSettingsFile(settingsPath(folder));
  const more = settings.state === "read" ? (settings.value.skills?.places ?? []) : [];
  const places = skillPlaces({ home: false, project: folder }).map((place) => place.folder);
  const found = [...places, ...more.map((place) => resolve(folder, place))].map(async (place) => {
    const listed = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => []);
    return listed.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  });
  return [...new Set((await Promise.all(found)).flat())].sort();
}

async function commandFiles(folder: string): Promise<string[]> {
  const found = [...COMMAND_FOLDERS, ...AGENT_FOLDERS].map(async (place) =>
    (await markdownIn(join(folder, place))).map((name) => join(folder, place, name)),
  );
  return existing(folder, (await Promise.all(found)).flat().sort());
}

function isProgram(path: string): boolean {
  return !/\.(md|txt)$/i.test(path);
}

/** Those of the paths that are regular files, perhaps through links. */
async function existing(folder: string, paths: readonly string[]): Promise<string[]> {
  const full = paths.map((path) => resolve(folder, path));
  const found = await Promise.all(full.map(isFile));
  return full.filter((_, index) => found[index]);
}

/** A file that cannot be read now asks again when it can. */
async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest("hex");
  } catch {
    return "unreadable";
  }
}
