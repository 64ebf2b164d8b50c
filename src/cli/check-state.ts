import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readAuditFolder } from "../audit/audit-folder.ts";
import { verifyChain } from "../audit/verify-chain.ts";
import { reasonOf } from "../util/reason-of.ts";
import { type Finding, problemWith, warningOf } from "./finding.ts";
import { auditFolder } from "./open-audit.ts";
import { cacheFolder, setStateFolder } from "./user-folders.ts";

/** Files of the state folder, and what counts no longer if one is damaged. */
const FILES: Readonly<Record<string, string>> = {
  "pins.json": "approve the definitions again: keyhole approve",
  "consents.json": "let the servers start again: keyhole servers allow --all",
  "tokens.json": "make the tokens again: keyhole token add NAME",
  "secrets.json": "set the secrets again: keyhole secrets set NAME",
};
const OTHERS = 0o077;

/** Checks the folders in which Keyhole keeps state, and the files in them. */
export async function checkState(home: string): Promise<Finding[]> {
  const state = setStateFolder();
  return [
    ...checkFolder(state, "XDG_STATE_HOME"),
    ...checkFolder(cacheFolder(), "XDG_CACHE_HOME"),
    ...Object.entries(FILES).flatMap(([name, fix]) => checkFile(join(state, name), fix)),
    ...checkMode(join(home, ".keyhole", "settings.json")),
    ...(await checkAudit()),
  ];
}

/** A folder that is not there yet has to be one that can be made. */
function checkFolder(folder: string, variable: string): Finding[] {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    if (!statSync(at).isDirectory())
      return [problemWith(folder, `${at} is a file and no folder`, `Move ${at} away.`)];
    accessSync(at, constants.W_OK | constants.X_OK);
    // Root may write everywhere, except where the file system is read-only.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return [];
  } catch (error) {
    const fix = `Make it writable: chmod u+rwx ${at}, or set ${variable} to a folder that is.`;
    return [problemWith(folder, `it cannot be written (${codeOf(error)})`, fix)];
  }
}

function checkFile(path: string, fix: string): Finding[] {
  const damaged = `${path}.damaged`;
  const aside = existsSync(damaged)
    ? [problemWith(path, `it was damaged and is kept as ${damaged}`, `Remove that file, then ${fix}.`)]
    : [];
  return [...aside, ...checkMode(path)];
}

function checkMode(path: string): Finding[] {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts || process.platform === "win32" || (facts.mode & OTHERS) === 0) return [];
  return [warningOf(path, "other users of this machine can read it", `chmod 600 ${path}`)];
}

async function checkAudit(): Promise<Finding[]> {
  const folder = auditFolder();
  if (!existsSync(folder)) return [];
  const found: Finding[] = [];
  for (const chain of readAuditFolder(folder)) {
    const { bad } = await verifyChain(chain, () => {});
    if (bad)
      found.push(problemWith(folder, `the audit log is not intact: ${bad.reason}`, "keyhole audit verify"));
  }
  return found;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? reasonOf(error);
}
