import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { customProblem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { CLIENTS } from "../clients/clients.ts";
import { requestDaemon } from "../daemon/run-daemon.ts";
import { openSecrets } from "../open/secrets.ts";
import { quoteWord } from "../open/suggest-command.ts";
import { cacheFolder, ownConfig, setStateFolder } from "../open/user-folders.ts";
import { askYesOrNo, hasTerminal } from "../terminal/confirm.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { JSON_OUTPUT } from "../terminal/shared-options.ts";
import { openConnections } from "./connect.ts";

export const uninstall = defineCommand({
  name: "uninstall",
  page: "stored.md",
  about: `Gives every connected client its servers back, as keyhole disconnect does, and ends the daemon. Deletes nothing
    of yours: it says what is left where, and the command that removes it.`,
  options: {
    yes: { help: "do not ask" },
    "dry-run": { help: "say what would be done, and do nothing" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if a client's config could not be restored.",
  run: async ({ yes, dryRun, json }) => {
    const connections = openConnections();
    const names = await connections.clients();
    const daemon = await requestDaemon("status");
    const titles = names.map(titleOf);
    if (!json && names.length > 0) console.log(`These get their servers back: ${titles.join(", ")}.`);
    if (!json && daemon) console.log(`The daemon ends: process ${daemon.pid}.`);
    const isNeeded = names.length > 0 || daemon !== undefined;
    if (isNeeded && !yes && !dryRun && !(await agrees())) {
      process.exitCode = 1;
      return console.log("Nothing was changed.");
    }
    const undone: { client: string; files: string[] }[] = [];
    const failed: { client: string; reason: string }[] = [];
    for (const client of names) {
      try {
        const plan = await (dryRun ? connections.planUndo(client) : connections.undo(client));
        undone.push({ client, files: (plan?.files ?? []).map(({ path }) => path) });
      } catch (error) {
        failed.push({ client, reason: reasonOf(error) });
      }
    }
    if (daemon && !dryRun) await requestDaemon("stop");
    if (failed.length > 0) process.exitCode = 1;
    const remains = findRemains();
    if (json)
      return console.log(
        JSON.stringify({ dryRun, undone, failed, daemon: daemon?.pid ?? null, remains }, null, 2),
      );
    const did = dryRun ? "would get its servers back" : "has its servers back";
    const lines = [
      ...undone.map(({ client, files }) => `${titleOf(client)} ${did}: ${files.join(", ")}`),
      ...failed.map(({ client, reason }) => `${titleOf(client)} could not be restored: ${reason}`),
      ...(dryRun ? ["Nothing was changed."] : []),
      "",
      "This is left. Each line has the command that removes it:",
      ...remains.flatMap(({ what, remove }) => [`  ${what}`, `    ${remove}`]),
    ];
    console.log(lines.map(toVisibleLine).join("\n"));
  },
});

function titleOf(name: string): string {
  return CLIENTS.find((client) => client.name === name)?.title ?? name;
}

async function agrees(): Promise<boolean> {
  if (hasTerminal()) return askYesOrNo("Go on?");
  throw customProblem(
    "PERSON_NEEDED",
    "Uninstalling needs a person, and there is no terminal to ask in.",
    "A person has to run the command in a terminal, or repeat it with --yes.",
  );
}

/** Something of Keyhole on this machine. */
interface Remains {
  readonly what: string;
  readonly remove: string;
}

/** Everything that Keyhole has left, in the order in which it can be removed: the package last. */
function findRemains(): Remains[] {
  const state = setStateFolder();
  const folders = [
    { path: join(ownConfig(), ".."), holds: "settings, recipes and conversations" },
    { path: state, holds: "approvals, logins, agents, backups and logs" },
    { path: cacheFolder(), holds: "copies that can be made again" },
  ];
  const secrets = openSecrets();
  const inKeychain = secrets.names().filter((name) => secrets.placeOf(name) === "keychain");
  const program = realpathSync(process.argv[1]!);
  return [
    ...inKeychain.map((name) => ({
      what: `the secret ${name} in the system's keychain`,
      remove: `keyhole secrets remove ${name}`,
    })),
    ...folders
      .filter(({ path }) => existsSync(path))
      .map(({ path, holds }) => ({ what: `${path}: ${holds}`, remove: removeFolder(path) })),
    ...completions(),
    { what: `the program: ${program}`, remove: "npm uninstall -g keyhole" },
  ];
}

function removeFolder(path: string): string {
  return `${process.platform === "win32" ? "rmdir /s /q" : "rm -r"} ${quoteWord(path)}`;
}

/** The lines that load completions in the start files of shells. */
function completions(): Remains[] {
  const fish = join(homedir(), ".config", "fish", "completions", "keyhole.fish");
  const files = [".bashrc", ".bash_profile", ".zshrc"].map((name) => join(homedir(), name));
  return [
    ...files.filter(loadsCompletion).map((path) => ({
      what: `the line with keyhole completion in ${path}`,
      remove: `sed -i.bak '/keyhole completion/d' ${quoteWord(path)}`,
    })),
    ...(existsSync(fish) ? [{ what: `completions in ${fish}`, remove: `rm ${quoteWord(fish)}` }] : []),
  ];
}

function loadsCompletion(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes("keyhole completion");
  } catch {
    return false;
  }
}
