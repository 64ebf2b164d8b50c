// node lab/inside.ts JSON: runs one scenario of one client, in a network and process namespace of its own, and prints
// what was observed. Only `run-scenario.ts` starts it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { serveScriptedModel } from "../src/testing/serve-scripted-model.ts";
import { findClient } from "./clients.ts";
import { connectKeyhole } from "./connect-keyhole.ts";
import type { Assignment, Observed, TapRecord } from "./observed.ts";
import { type PersonRun, runWithPerson } from "./person.ts";
import { leftProcesses } from "./processes.ts";
import { scenario } from "./scenarios.ts";
import { revealsIn, scriptOf } from "./script.ts";
import { closedFile, writeConfig } from "./write-config.ts";

/** Clients take seconds; a machine with other work may take minutes. */
const DEADLINE_MS = 300_000;

const assignment = JSON.parse(process.argv[2] ?? "{}") as Assignment;
const { folder, dist, seconds } = assignment;
const client = findClient(assignment.client)!;
const scene = scenario(assignment.scenario, seconds);
const [home, project] = [join(folder, "home"), join(folder, "project")];
for (const path of [home, project]) await mkdir(path, { recursive: true });

const model = await serveScriptedModel(scriptOf(client, scene.steps));
const { installed } = assignment;
const setup = {
  home,
  project,
  installed,
  model: model.url,
  prompt: "Read the quarterly report with your tools.",
};
const person = assignment.scenario === "person" ? client.person : undefined;
const { args, env = {}, files = {} } = (person ?? client).launch(setup);
for (const [path, text] of Object.entries(files)) await write(resolve(home, path), text);
const log = join(folder, "tap.jsonl");
const serve = [
  join(dist, "program/main.js"),
  "serve",
  ...(await writeConfig(folder, dist, scene)),
  ...assignment.serveArgs,
  ...(scene.allowWrite ? ["--allow-write"] : []),
];
await connectKeyhole(client, setup, {
  command: process.execPath,
  args: [resolve(import.meta.dirname, "tap.ts"), log, process.execPath, ...serve],
});

const started = Date.now();
const command = [join(installed, "node_modules", ".bin", client.bin), ...args];
const variables = {
  HOME: home,
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  TERM: "dumb",
  LANG: "C.UTF-8",
  ...env,
};
const { code, output, forms } = person
  ? await runWithPerson(command, person, { folder: project, env: variables, prompt: setup.prompt, log })
  : await runHeadless();
const observed: Observed = {
  code,
  ms: Date.now() - started,
  startedAt: started,
  output: output.slice(-4_000),
  requests: model.requests.map(({ body }) => body),
  reveals: Math.max(0, ...model.requests.map((request) => revealsIn(request, client))),
  tap: await readTap(log),
  forms,
  closed: await readLines(closedFile(folder)),
  left: await leftProcesses(),
  leftAfterStop: await leftAfterStop(),
};
await model.close();
await writeFile(join(folder, "observed.json"), JSON.stringify(observed));
process.exit(0);

async function runHeadless(): Promise<PersonRun> {
  const [program = "", ...given] = command;
  const child = spawn(program, given, { cwd: project, env: variables, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (printed += data));
  const timer = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS + seconds * 1_000);
  const [exit] = await once(child, "exit");
  clearTimeout(timer);
  return { code: exit, output: printed, forms: [] };
}

/** The daemon outlives its clients for a while, with the servers that they share; a person can stop it. */
async function leftAfterStop(): Promise<readonly string[]> {
  const env = { HOME: home, PATH: process.env.PATH };
  const stop = spawn(process.execPath, [join(dist, "program/main.js"), "serve", "--stop"], {
    env,
    stdio: "ignore",
  });
  await once(stop, "exit");
  return leftProcesses();
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function readTap(path: string): Promise<TapRecord[]> {
  return (await readLines(path)).map((line) => JSON.parse(line) as TapRecord);
}

async function readLines(path: string): Promise<string[]> {
  return existsSync(path) ? (await readFile(path, "utf8")).trim().split("\n") : [];
}
