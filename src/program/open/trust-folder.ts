import { relative } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { checkHash, hasTerminal, shortHash } from "../terminal/confirm.ts";
import { settingsPath } from "./config-files.ts";
import { type FolderContents, type FolderFile, folderContents } from "./folder-contents.ts";
import { endTrust, isTrusted, recordTrust } from "./folder-trust.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { openConsents, recordDecisions } from "./stores.ts";

const WHY: Readonly<Record<FolderFile["why"], string>> = {
  config: "runs as code",
  code: "runs as code of the config, a skill or a hook",
  packages: "decides which files and packages the code imports",
  settings: "sets permissions, servers, addresses and prompts",
  skill: "may run as code of a skill",
};

/** A folder with everything that a person agrees to when trusting it. */
export interface TrustRequest {
  readonly contents: FolderContents;
  readonly servers: readonly ServerProgram[];
  /** SHA-256 of all that is shown. */
  readonly hash: string;
}

/**
 * `keyhole approve ./FOLDER`: shows what Keyhole would run, start and read to a model in a folder, and asks whether the
 * person trusts it. The trust holds for the folder's real path until something changes that can run.
 */
export async function approveFolder(
  folder: string,
  { hash, revoke }: { readonly hash: string | undefined; readonly revoke: boolean },
): Promise<void> {
  const request = await trustRequest(folder);
  const { contents } = request;
  const name = toVisibleLine(contents.folder);
  if (revoke) {
    const wasTrusted = await endTrust(contents);
    if (wasTrusted) await recordDecision("revoked", contents);
    return console.log(wasTrusted ? `${name} is no longer trusted.` : `${name} was not trusted.`);
  }
  const isAgreed =
    hasTerminal() && hash === undefined ? await askInTerminal(request) : agreesByHash(request, hash);
  if (isAgreed) await giveTrust(request);
  else process.exitCode = 1;
  console.log(isAgreed ? `${name} is trusted.` : `${name} is not trusted.`);
}

async function askInTerminal(request: TrustRequest): Promise<boolean> {
  const { showApproval } = await import("../../agent/tui/approval-view.ts");
  const [title = "", ...facts] = showContents(request);
  const answer = await showApproval({
    title,
    facts,
    definitions: [],
    yes: "Yes, trust this folder as it is now",
  });
  return answer !== "later" && answer !== "stop";
}

function agreesByHash(request: TrustRequest, given: string | undefined): true {
  const { hash } = request;
  console.log([...showContents(request), `Hash: ${shortHash(hash)}`].join("\n"));
  checkHash({ operation: "approve", action: "Trusting a folder", hash, given });
  return true;
}

/** Finds what trusting a folder means. Runs nothing of it. */
export async function trustRequest(folder: string): Promise<TrustRequest> {
  const contents = await folderContents(folder);
  const servers = await serversOf(contents.folder);
  const hash = contentHash([contents.folder, contents.hash, contents.texts, servers.map((one) => one.hash)]);
  return { contents, servers, hash };
}

/** Shows what trusting a folder means, in whole lines. */
export function showContents(request: TrustRequest): string[] {
  const { folder, files, texts } = request.contents;
  const near = (path: string) => {
    const way = relative(folder, path);
    return toVisibleLine(way.startsWith("..") ? path : way);
  };
  return [
    `If you trust ${toVisibleLine(folder)}, Keyhole uses there:`,
    ...files.map(({ path, why }) => `  ${near(path)}: ${WHY[why]}`),
    ...texts.map((path) => `  ${near(path)}: is read to the model`),
    ...request.servers.flatMap((program) => [
      `  the server ${toVisibleLine(program.label)}:`,
      ...showProgram(program).map((line) => `    ${line}`),
    ]),
    ...(holdsNothing(request) ? ["  nothing"] : []),
  ];
}

export function holdsNothing({ contents: { files, texts } }: TrustRequest): boolean {
  return files.length + texts.length === 0;
}

/** Records the trust in a folder, together with the consent to start the servers that were shown. */
export async function giveTrust({ contents, servers }: Omit<TrustRequest, "hash">): Promise<void> {
  await openConsents().give(servers);
  await recordTrust(contents);
  await recordDecision("allowed", contents);
}

function recordDecision(kind: "allowed" | "revoked", { folder, hash }: FolderContents): Promise<void> {
  return recordDecisions(kind, "folder", [{ name: folder, digest: hash }]);
}

/**
 * Whether the folder is trusted. A person in a terminal is shown what it holds and asked. `wantsConfig`: whether
 * the command would run the folder's own config.
 *
 * @throws CONFIG_NOT_TRUSTED without a terminal, if the folder has a config that would run.
 */
export async function askForTrust(folder: string, wantsConfig = true): Promise<boolean> {
  if (await isTrusted(folder)) return true;
  const request = await trustRequest(folder);
  const { contents } = request;
  if (holdsNothing(request)) return false;
  const config = contents.files.find(({ why }) => why === "config");
  if (!hasTerminal()) {
    if (config && wantsConfig)
      throw problem("CONFIG_NOT_TRUSTED", { path: config.path, folder: contents.folder });
    return false;
  }
  if (!(await askInTerminal(request))) return false;
  await giveTrust(request);
  // The trust is in what was shown: files that have changed meanwhile are shown again.
  return askForTrust(folder, wantsConfig);
}

/** Servers of the project's settings. A wrong file has none: it is not used as long as it is wrong. */
async function serversOf(folder: string): Promise<ServerProgram[]> {
  const read = await readSettingsFile(settingsPath(folder));
  const { mcpServers = {} } = read.state === "read" ? read.value : {};
  if (Object.keys(mcpServers).length === 0) return [];
  const { fromConfig } = await import("../../sources/servers/from-config.ts");
  try {
    return fromConfig({ mcpServers }, { cwd: folder }).map((source) => source.program());
  } catch {
    return [];
  }
}
