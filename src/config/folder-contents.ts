import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { skillPlaces } from "../sources/markdown/skills/skill-places.ts";
import { contentHash } from "../util/content-hash.ts";
import { projectFolders } from "../util/project-folders.ts";
import { codeFiles } from "./code-files.ts";
import { DEFAULT_CONFIGS } from "./default-configs.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { COMMAND_FOLDERS, promptPath, settingsPath } from "./settings-path.ts";

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
  const folder = await realpath(given).catch(() => resolve(given));
  const skills = await skillFiles(folder);
  // In the home folder, settings and prompt are the person's own, and no project's.
  const isHome = folder === (await realpath(homedir()).catch(() => homedir()));
  const named = [
    ...(await configFiles(folder)),
    ...(await existing(folder, isHome ? [] : [settingsPath(folder)])).map((path) => ({
      path,
      why: "settings" as const,
    })),
    ...skills.filter(isProgram).map((path) => ({ path, why: "skill" as const })),
  ];
  const files: FolderFile[] = [];
  for (const { path, why } of named) files.push({ path, why, hash: await hashFile(path) });
  const instructions = (await projectFolders(folder)).flatMap((each) => [
    join(each, "AGENTS.md"),
    join(each, "CLAUDE.md"),
  ]);
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

async function configFiles(folder: string): Promise<Pick<FolderFile, "path" | "why">[]> {
  const [config] = await existing(folder, DEFAULT_CONFIGS);
  if (config === undefined) return [];
  const reached = (await codeFiles(config)).filter((path) => path !== config);
  return [
    { path: config, why: "config" },
    ...reached.map((path) => ({ path, why: "code" as const })),
    ...(await existing(folder, PACKAGES)).map((path) => ({ path, why: "packages" as const })),
  ];
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
  const found = COMMAND_FOLDERS.map(async (place) => {
    const names = await readdir(join(folder, place)).catch(() => []);
    return names.filter((name) => name.endsWith(".md")).map((name) => join(folder, place, name));
  });
  return existing(folder, (await Promise.all(found)).flat().sort());
}

function isProgram(path: string): boolean {
  return !/\.(md|txt)$/i.test(path);
}

/** Those of the paths that are regular files, perhaps through links. */
async function existing(folder: string, paths: readonly string[]): Promise<string[]> {
  const found = paths.map(async (path) => {
    const full = resolve(folder, path);
    const about = await stat(full).catch(() => undefined);
    return about?.isFile() ? [full] : [];
  });
  return (await Promise.all(found)).flat();
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
