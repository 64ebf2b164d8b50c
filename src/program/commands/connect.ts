import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { createTwoFilesPatch } from "diff";
import { projectFolders } from "../../agent/loop/project-files.ts";
import { customProblem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { secretsIn, secretsInArgs } from "../../base/safety/secret-values.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { fieldsOf, listOf } from "../../base/util/plain-object.ts";
import { showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { SURFACES } from "../../core/surfaces/surface-names.ts";
import type { Client } from "../clients/client.ts";
import { CLIENTS } from "../clients/clients.ts";
import { createConnections, type UndoneFile } from "../clients/connections.ts";
import { readConfig } from "../clients/edit-config.ts";
import { type ConnectionPlan, planConnection } from "../clients/plan-connection.ts";
import type { ProfileServer } from "../clients/plan-profiles.ts";
import { programOf } from "../clients/shared-servers.ts";
import { openConsents } from "../open/stores.ts";
import { isTemporary, ownConfig, serveProgram, setStateFolder, thisMachine } from "../open/user-folders.ts";
import { askYesOrNo, hasTerminal } from "../terminal/confirm.ts";
import { type CommandInput, defineCommand } from "../terminal/define-command.ts";

const OPTIONS = {
  undo: { help: "give the client its servers back" },
  with: {
    takes: "NAME",
    repeats: true,
    help: "also give it the servers of this connected client, or this server of Keyhole's config",
  },
  all: { help: "also give it every server of Keyhole's config" },
  skills: { help: "also put your skills behind Keyhole, and leave one line in the client in their place" },
  projects: { help: "also move the servers of this folder and of Claude Code's projects" },
  surface: { takes: "NAME", choices: SURFACES, help: "the tools that its model sees (default: lanes)" },
  "read-only": { help: "let the client only read through Keyhole" },
  "dry-run": { help: "show the change, write nothing" },
  yes: { help: "do not ask" },
} as const;

export const connect = defineCommand({
  name: "connect",
  page: "clients.md",
  words: "CLIENT",
  choices: CLIENTS.map(({ name }) => name),
  about: `Moves the servers of a client into Keyhole's own config and puts Keyhole in their place. The client gets its
    own servers with the tools that its config allows, as a profile of its name; --with and --all give it more. Shows
    every changed line first, asks, and keeps a backup. --undo restores the client's config byte for byte; if it has
    changed since, only Keyhole's part is undone.`,
  options: OPTIONS,
  run: async ({ words, undo: isUndo, ...options }) => {
    const client = CLIENTS.find(({ name }) => name === words[0])!;
    await (isUndo ? undo(client, options.dryRun) : connectClient(client, options));
  },
});

export const disconnect = defineCommand({
  name: "disconnect",
  page: "clients.md",
  words: "CLIENT",
  choices: CLIENTS.map(({ name }) => name),
  about: "Gives a client its servers back, as keyhole connect CLIENT --undo does.",
  options: { "dry-run": OPTIONS["dry-run"] },
  run: async ({ words, dryRun }) => undo(CLIENTS.find(({ name }) => name === words[0])!, dryRun),
});

interface ConnectOptions extends Partial<CommandInput<typeof OPTIONS>> {
  /** The person has agreed already: nothing is shown or asked, and this function gets the plan once it is carried out. */
  readonly onConnected?: (plan: ConnectionPlan) => void;
}

/** Shows the plan, asks, and carries it out. */
export async function connectClient(client: Client, options: ConnectOptions): Promise<void> {
  const machine = thisMachine();
  const program = serveProgram(options.readOnly ?? false, options.surface);
  const connections = openConnections();
  const plan = await planConnection(client, {
    machine,
    program,
    ownPath: ownConfig(),
    withProjects: options.projects ?? false,
    withSkills: options.skills ?? false,
    sharing: options.with ?? [],
    sharesAll: options.all ?? false,
    earlier: await connections.profilesOf(client.name),
  });
  if (!plan.own && plan.files.every(({ before, after }) => before === after))
    return console.log(`${client.title} is connected already.`);
  if (!options.onConnected) console.log((await connectionLines(plan, machine.home)).join("\n"));
  if (isTemporary(program))
    console.log(
      "\nThis program lies in the cache of npx. Install it first, so that it stays: npm install -g keyhole",
    );
  if (options.dryRun) return console.log("\nNothing was written.");
  const shared = await sharedFiles(plan);
  const isAgreed = options.yes || options.onConnected !== undefined;
  if (!(await agreesToShared(shared)) || (!isAgreed && !(await agrees(client)))) {
    process.exitCode = 1;
    return console.log("Nothing was written.");
  }
  const place = await connections.make(plan);
  await consent(plan, machine.home, options.yes ?? false);
  if (options.onConnected) return options.onConnected(plan);
  console.log(`${client.title} is connected. Restart it.
Backup: ${place}
Back:   keyhole connect ${client.name} --undo
Next:   keyhole approve   shows the tools of the servers and asks`);
}

async function agrees({ title }: Client): Promise<boolean> {
  if (hasTerminal()) return askYesOrNo(`\nConnect ${title}, and let these servers start?`);
  throw customProblem(
    "PERSON_NEEDED",
    `Connecting ${title} needs a person, and there is no terminal to ask in.`,
    "A person has to run the command in a terminal, or repeat it with --yes.",
  );
}

/** Files of projects that others share through a repository. */
async function sharedFiles({ client, files }: ConnectionPlan): Promise<string[]> {
  const ofProjects = client.places(thisMachine()).filter(({ scope }) => scope === "project");
  const changed = files.filter(
    ({ path, before, after }) => before !== after && ofProjects.some((place) => place.path === path),
  );
  const roots = await Promise.all(changed.map(({ path }) => projectFolders(dirname(path))));
  return changed
    .filter((_, index) => existsSync(join(roots[index]!.at(-1)!, ".git")))
    .map(({ path }) => path);
}

/** Asks on its own about files of a team: `--yes` speaks for the person's files only. */
async function agreesToShared(paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0) return true;
  for (const path of paths)
    console.log(`\n${toVisibleLine(path)} is in a repository. Its servers go for everybody who shares it.`);
  if (hasTerminal()) return askYesOrNo("Change it all the same?");
  throw customProblem(
    "PERSON_NEEDED",
    "Taking servers out of a file that others share needs a person, and there is no terminal to ask in.",
    "Leave --projects out, or run the command in a terminal.",
  );
}

/**
 * Records the consents to start the servers. Others may have written a project's file, so its servers wait for
 * `keyhole approve` unless a person has just seen them.
 */
async function consent({ moved }: ConnectionPlan, home: string, isUnseen: boolean): Promise<void> {
  const agreed = moved.filter(({ isOfProject }) => !(isOfProject && isUnseen));
  await openConsents().give(agreed.map((server) => programOf(server, home)));
}

async function undo({ name, title }: Client, isDry: boolean): Promise<void> {
  const connections = openConnections();
  const plan = await (isDry ? connections.planUndo(name) : connections.undo(name));
  if (!plan) {
    process.exitCode = 1;
    return console.log(`${title} is not connected.`);
  }
  if (isDry) {
    const lines = await diffLines([...plan.files, ...(plan.own ? [plan.own] : [])]);
    return console.log([...lines, "", "Nothing was written."].join("\n"));
  }
  for (const profile of plan.keptProfiles)
    console.log(`The profile ${profile} in ${plan.own?.path} has changed since: your part of it stays.`);
  for (const { path, isExact } of plan.files)
    console.log(
      isExact
        ? `${path} is as it was before.`
        : `${path} has changed since it was connected: only Keyhole's part is undone.`,
    );
}

export function openConnections() {
  return createConnections(join(setStateFolder(), "connections"));
}

const NOTHING_SHOWN =
  "  None. --with NAME gives it servers of another client, --all every server of Keyhole.";

/** The whole plan for a person who decides: the servers, those that stay, and every changed line. */
async function connectionLines(plan: ConnectionPlan, home: string): Promise<string[]> {
  const { client, moved, shared, staying, projects, files, own } = plan;
  const linesOf = (server: ProfileServer) => serverLines(server.name, server, programOf(server, home));
  return [
    `These servers of ${client.title} will run behind Keyhole (${moved.length}):`,
    ...moved.flatMap(linesOf),
    ...(plan.uses.length === 0 ? [NOTHING_SHOWN] : []),
    ...(shared.length === 0
      ? []
      : [`${client.title} also gets these servers, with their variables and secrets (${shared.length}):`]),
    ...shared.flatMap(linesOf),
    ...staying.map(({ name, stays }) => toVisibleLine(`  ${name} stays with ${client.title}: ${stays}.`)),
    ...projects.map(({ place, servers }) =>
      toVisibleLine(
        `  ${place.path} has ${countOf(servers.length, "server")} of a project: --projects also moves what is there.`,
      ),
    ),
    ...plan.notes.map((note) => toVisibleLine(`  ${note}`)),
    ...plan.unset.map((name) => toVisibleLine(`  ${unsetNote(client, name)}`)),
    "",
    ...(await diffLines([...files, ...(own ? [own] : [])])),
  ];
}

const ASKING = {
  always: "asks    ",
  writes: "asks if it writes",
  destructive: "asks if it destroys",
  never: "never asks",
} as const;

function unsetNote({ title, variables }: Client, name: string): string {
  const keep = `keyhole secrets set ${name} keeps it, and \${secret:${name}} refers to it`;
  if (variables === "none") return `${title} passes ${name} on to no server: ${keep}.`;
  return `${name} is not set here. It has to be set where ${title} is started, or ${keep}.`;
}

/** Describes a server: what it runs or reaches, the tools that its config leaves out, and notes for the person. */
function serverLines(
  title: string,
  {
    config: { includeTools, excludeTools = [], aliases = [], askTools = {}, disabled },
    notes,
  }: Pick<ProfileServer, "config" | "notes">,
  program: ServerProgram,
): string[] {
  return [
    `  ${title}`,
    ...showProgram(program).map((line) => `    ${line}`),
    ...(includeTools ? [`    only     ${includeTools.join(", ")}`] : []),
    ...(excludeTools.length > 0 ? [`    without  ${excludeTools.join(", ")}`] : []),
    ...(disabled ? ["    off"] : []),
    ...[...Map.groupBy(Object.keys(askTools), (tool) => askTools[tool]!)].map(
      ([ask, tools]) => `    ${ASKING[ask]} ${tools.join(", ")}`,
    ),
    ...(aliases.length > 0 ? [`    alias    ${aliases.join(", ")}`] : []),
    ...notes.map((note) => `    note     ${note}`),
  ].map(toVisibleLine);
}

/** Every changed line of files, without the secrets in them. */
async function diffLines(files: readonly UndoneFile[]): Promise<string[]> {
  const texts = files.flatMap(({ format, before, after }) =>
    [before, after].map((text) => readConfig(format, text ?? "").catch(() => undefined)),
  );
  const hide = createRedact((await Promise.all(texts)).flatMap(secretsWithin), { kinds: true });
  return files.flatMap((file) => hide(diffOf(file)).split("\n").map(toVisibleLine));
}

function diffOf({ path, before, after }: UndoneFile): string {
  const [from, to] = [before, after].map((text) => (text === undefined ? "/dev/null" : path));
  return createTwoFilesPatch(from!, to!, before ?? "", after ?? "", undefined, undefined, {
    context: 2,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  }).trimEnd();
}

/** The secrets in a config: fields by their names, and lists as the arguments of a command. */
function secretsWithin(value: unknown): string[] {
  const texts = listOf(value).filter((part) => typeof part === "string");
  return [
    ...secretsInArgs(texts),
    ...listOf(value).flatMap(secretsWithin),
    ...Object.entries(fieldsOf(value)).flatMap(([name, part]) =>
      typeof part === "string" ? secretsIn(name, part) : secretsWithin(part),
    ),
  ];
}
