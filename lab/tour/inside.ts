// node lab/tour/inside.ts JSON: one tour of one client, directly or behind Keyhole, in a network and process namespace of
// its own. Writes what was observed. Only `run-tour.ts` starts it.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { serveScriptedModel } from "../../src/testing/serve-scripted-model.ts";
import { findClient } from "../clients.ts";
import { writeEntries } from "../connect-keyhole.ts";
import type { TapRecord } from "../observed.ts";
import { TourModel } from "./model.ts";
import { DENIED, LARGE_FILE, largeText, outcomesIn, SMALL_FILE, SMALL_TEXT } from "./outcomes.ts";
import { tourServers } from "./servers.ts";
import type { TourAssignment, TourObserved } from "./tour.ts";

const DEADLINE_MS = 180_000;
/** Variables that servers read and that a gateway may lose on the way. */
const VARIABLES = { DISPLAY: ":7", AWS_PROFILE: "tour", KUBECONFIG: "/etc/tour/kube" };

const {
  client: name,
  way,
  size,
  folder,
  installed,
  dist,
  serveArgs,
} = JSON.parse(process.argv[2] ?? "{}") as TourAssignment;
const client = findClient(name)!;
const [home, project, logs] = ["home", "project", "logs"].map((part) => join(folder, part)) as [
  string,
  string,
  string,
];
for (const path of [home, project, logs]) await mkdir(path, { recursive: true });
await writeFile(join(project, SMALL_FILE), SMALL_TEXT);
await writeFile(join(project, LARGE_FILE), largeText());

const outcomes = outcomesIn(project);
const scripted = new TourModel(client, outcomes, way);
const model = await serveScriptedModel(scripted.reply);
const prompt = `Do this with your tools, one after the other:\n${outcomes.map(({ need }) => `- ${need}`).join("\n")}`;
const setup = { home, project, installed, model: model.url, prompt };
const servers = tourServers(size, project, logs);
const names = Object.keys(servers);
const { args, env = {}, files = {} } = client.launch(setup);
for (const [path, text] of Object.entries({ ...files, ...client.allowing?.([...names, "keyhole"]) }))
  await write(resolve(home, path), text);
const variables = {
  HOME: home,
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  TERM: "dumb",
  LANG: "C.UTF-8",
  ...VARIABLES,
  ...env,
};
const keyhole = (...given: string[]) =>
  execFileSync(process.execPath, [join(dist, "program/main.js"), ...given], {
    cwd: project,
    env: variables,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

await writeEntries(client, setup, servers);
if (way === "keyhole") await connect();
const denies = way === "keyhole" && client.denies ? isDenied() : undefined;
const startedAt = Date.now();
const command = [join(installed, "node_modules", ".bin", client.bin), ...args];
const { code, output } = await runClient();
if (way === "keyhole") keyhole("serve", "--stop");
const observed: TourObserved = {
  code,
  output: output.slice(-4_000),
  requests: model.requests.map(({ body }) => body),
  moves: scripted.moves,
  lost: scripted.lost,
  taps: Object.fromEntries(await Promise.all(names.map(async (server) => [server, await readTap(server)]))),
  variables: Object.keys(VARIABLES),
  startedAt,
  ...(denies !== undefined && { denies }),
};
await model.close();
await writeFile(join(folder, "observed.json"), JSON.stringify(observed));
process.exit(0);

/** As a person does it: `connect`, or the entry by hand for a client that `connect` does not know; then `approve`. */
async function connect(): Promise<void> {
  if (client.entryFile) {
    await write(join(home, ".keyhole/settings.json"), JSON.stringify({ mcpServers: servers }));
    const serve = [join(dist, "program/main.js"), "serve", "--allow-write", ...serveArgs];
    await writeEntries(client, setup, { keyhole: { command: process.execPath, args: serve } });
  } else keyhole("connect", client.name, "--yes");
  // The programs first, where `connect` has not settled them, then their tools.
  for (let hash = shownHash(); hash !== undefined; hash = shownHash()) keyhole("approve", "--hash", hash);
}

/** Whether Keyhole knows no such tool for this client, while it knows its neighbour. */
function isDenied(): boolean {
  const call = (tool: string, ...values: string[]) =>
    shown("call", `filesystem.${tool}`, ...values, "--profile", client.name, "--dry-run");
  const paths = ["source=a", "destination=b"];
  return /NOT_FOUND/.test(call(DENIED, ...paths)) && !/NOT_FOUND/.test(call("get_file_info", "path=a"));
}

/** The hash of what waits for a yes. */
function shownHash(): string | undefined {
  return /Hash: (\w+)/.exec(shown("approve"))?.[1];
}

/** The output of a command, whatever its exit code. */
function shown(...given: string[]): string {
  try {
    return keyhole(...given);
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

async function runClient(): Promise<{ code: number | null; output: string }> {
  const [program = "", ...given] = command;
  const child = spawn(program, given, { cwd: project, env: variables, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (printed += data));
  const timer = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
  const [exit] = await once(child, "exit");
  clearTimeout(timer);
  return { code: exit, output: printed };
}

async function readTap(server: string): Promise<TapRecord[]> {
  const path = join(logs, `${server}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as TapRecord);
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
