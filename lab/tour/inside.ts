// node lab/tour/inside.ts JSON: one tour of one client, directly or behind Keyhole, in a network and process namespace of
// its own. Writes what was observed. Only `run-tour.ts` starts it.
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serveScriptedModel } from "../../src/testing/serve-scripted-model.ts";
import { openHome } from "../client-home.ts";
import { findClient } from "../clients.ts";
import type { TapRecord } from "../observed.ts";
import { TourModel } from "./model.ts";
import {
  DENIED,
  LARGE_FILE,
  largeText,
  type Outcome,
  outcomesIn,
  SMALL_FILE,
  SMALL_TEXT,
} from "./outcomes.ts";
import { tourServers } from "./servers.ts";
import type { TourAssignment, TourObserved } from "./tour.ts";

/** Variables that servers read and that a gateway may lose on the way. */
const VARIABLES = { DISPLAY: ":7", AWS_PROFILE: "tour", KUBECONFIG: "/etc/tour/kube" };

const assignment = JSON.parse(process.argv[2] ?? "{}") as TourAssignment;
const { way, size, folder, serveArgs } = assignment;
const client = findClient(assignment.client)!;
const [project, logs] = [join(folder, "project"), join(folder, "logs")];
for (const path of [project, logs]) await mkdir(path, { recursive: true });
await writeFile(join(project, SMALL_FILE), SMALL_TEXT);
await writeFile(join(project, LARGE_FILE), largeText());

const outcomes = way === "native" ? outcomesIn(project).map(toNative) : outcomesIn(project);
const scripted = new TourModel(client, outcomes, way);
const model = await serveScriptedModel(scripted.reply);
const servers = tourServers(size, project, logs);
const names = Object.keys(servers);
const { keyhole, shown, connect, run } = await openHome(client, {
  ...assignment,
  model: model.url,
  prompt: `Do this with your tools, one after the other:\n${outcomes.map(({ need }) => `- ${need}`).join("\n")}`,
  servers,
  variables: VARIABLES,
  deadlineMs: 180_000,
});
if (way !== "direct") await connect(serveArgs, way === "native" ? ["--surface", "native"] : []);
const denies = way !== "direct" && client.denies ? await isDenied() : undefined;
const startedAt = Date.now();
const { code, output } = await run();
if (way !== "direct") await keyhole("serve", "--stop");
const observed: TourObserved = {
  code,
  output,
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

/** Whether Keyhole knows no such tool for this client, while it knows its neighbour. */
async function isDenied(): Promise<boolean> {
  const isUnknown = async (tool: string, ...values: string[]) => {
    const words = ["call", `filesystem.${tool}`, ...values, "--profile", client.name, "--dry-run"];
    return /NOT_FOUND/.test(await shown(...words));
  };
  const isGone = await isUnknown(DENIED, "source=a", "destination=b");
  return isGone && !(await isUnknown("get_file_info", "path=a"));
}

/** The tool as the surface `native` names it. */
function toNative({ call, ...outcome }: Outcome): Outcome {
  if (!call) return outcome;
  return { ...outcome, call: { ...call, server: "keyhole", tool: `${call.server}_${call.tool}` } };
}

async function readTap(server: string): Promise<TapRecord[]> {
  const path = join(logs, `${server}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as TapRecord);
}
