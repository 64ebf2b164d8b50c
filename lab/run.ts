// npm run clients [-- NAME… | --others | --all]: runs MCP clients against the built program and a scripted model, without a
// network, and prints a row for each client and assertion. Without names: those that every check runs.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { installPackages } from "../bench/install-packages.ts";
import { ASSERTIONS } from "./assertions.ts";
import { findClient, LAB_CLIENTS } from "./clients.ts";
import { diffFacts, readFacts, recordRows, writeFacts } from "./facts.ts";
import type { LabRow } from "./finding.ts";
import { type LabClient, SCENARIOS } from "./lab-client.ts";
import { whyNoNamespace } from "./namespace.ts";
import { type ClientRun, type RunOptions, runClient } from "./run-client.ts";
import { whyNoSets } from "./searches/catalogue.ts";
import { searchFigures } from "./searches/rows.ts";
import { searchClient } from "./searches/run-searches.ts";
import type { TourRow } from "./tour/rows.ts";
import { printTours, tourClient } from "./tour/run-tour.ts";

const USAGE = `Usage: npm run clients [-- NAME…] [options]

  NAME           ${LAB_CLIENTS.map(({ name }) => name).join(", ")} (default: ${named("gate").join(", ")})
  --all          all of them
  --others       ${named("others").join(", ")}
  --newest       the newest versions, with what differs from the recorded facts
  --record       records the facts, from which docs/clients.md is made
  --scenario S   one conversation alone: ${SCENARIOS.join(", ")}
  --seconds N    how long the silent call lasts (default: 100)
  --serve ARG    an argument more for keyhole serve, e.g. --serve=--no-daemon
  --tour         twelve outcomes with four and with eight servers, direct and behind Keyhole as a person connects it;
                 with --record into docs/clients.md; with --native the tour behind Keyhole with all tools listed
  --searches     the client's own search and Keyhole's with the same queries over 50, 500 and 3,000 tools; with --record
                 into docs/clients.md
  --data DIR     the public sets of tools and queries that --searches needs
  --keep         keeps the folders of the runs
  --json         prints rows`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    others: { type: "boolean", default: false },
    newest: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    scenario: { type: "string" },
    seconds: { type: "string", default: "100" },
    serve: { type: "string", multiple: true, default: [] },
    tour: { type: "boolean", default: false },
    native: { type: "boolean", default: false },
    searches: { type: "boolean", default: false },
    data: { type: "string" },
    keep: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const unknown = positionals.find((name) => !findClient(name));
const scenario = SCENARIOS.find((name) => name === values.scenario);
const isWrong = unknown !== undefined || scenario !== values.scenario || !(Number(values.seconds) > 0);
if (values.help || isWrong) {
  console.error(USAGE);
  process.exit(values.help ? 0 : 2);
}
const noNamespace = whyNoNamespace();
if (noNamespace) skip(`The clients are not run: ${noNamespace}.`);
if (!existsSync("dist/program/main.js")) throw new Error("Nothing is built: run npm run build first.");

if (values.tour) process.exit(await tour());
if (values.searches) process.exit(await searches(values.data));
const rows: LabRow[] = [];
const differences: string[] = [];
const runs: { readonly client: LabClient; readonly run: ClientRun; again(): ClientRun }[] = [];
for (const client of chosen()) {
  const options = optionsOf(client);
  if ("reason" in options) {
    console.error(`${client.title} is skipped: ${options.reason}`);
    rows.push(skippedRow(client, options.reason));
    continue;
  }
  const again = () => runClient(client, options);
  const run = again();
  runs.push({ client, run, again });
  // The next client starts while the silent call of this one lasts.
  await run.idle;
}
for (const { client, run, again } of runs) {
  const found = await checkedRows(client, await run.rows, again);
  rows.push(...found);
  differences.push(...diffFacts(await readFacts(client.name), found));
  if (values.record) await writeFacts(client.name, found);
  if (!values.json) print(client, found);
}
if (values.json) console.log(JSON.stringify(rows));
for (const line of values.newest ? differences : []) console.error(line);
process.exit(rows.some(({ ok }) => !ok) ? 1 : 0);

/** The tours of all chosen clients. Returns the exit code: 1 if a bar is missed. */
async function tour(): Promise<number> {
  const found: TourRow[] = [];
  for (const client of chosen()) {
    const options = optionsOf(client);
    if ("reason" in options) console.error(`${client.title} is skipped: ${options.reason}`);
    else found.push(...(await tourClient(client, options, values.native ? ["native"] : undefined)));
  }
  if (values.record) await recordRows("tour", found);
  if (values.json) console.log(JSON.stringify(found));
  return printTours(found) ? 0 : 1;
}

/** The searches of all chosen clients that have one. Returns the exit code. */
async function searches(data?: string): Promise<number> {
  const noSets = data === undefined ? "Give --data DIR." : whyNoSets(data);
  if (data === undefined || noSets) {
    console.error(noSets);
    return 2;
  }
  for (const client of chosen().filter(({ search }) => search?.words)) {
    const options = optionsOf(client);
    if ("reason" in options) {
      console.error(`${client.title} is skipped: ${options.reason}`);
      continue;
    }
    for await (const row of searchClient(client, resolve(data), options)) {
      if (values.record) await recordRows("searches", [row]);
      const shown = `${client.title}, ${row.size} tools, ${row.way}: ${searchFigures(row)}`;
      console.log(values.json ? JSON.stringify(row) : shown);
    }
  }
  return 0;
}

function optionsOf(client: LabClient): RunOptions | { readonly reason: string } {
  if (client.cannotRun) return { reason: client.cannotRun };
  const installed = installPackages("clients", client.name, client.packages, values.newest);
  if ("reason" in installed) return installed;
  return {
    installed: installed.folder,
    version: installed.version,
    seconds: Number(values.seconds),
    scenario,
    serveArgs: values.serve,
    keep: values.keep,
  };
}

/** Clients have limits of their own, which a busy machine exceeds. A second run tells load from defects. */
async function checkedRows({ title }: LabClient, first: LabRow[], again: () => ClientRun): Promise<LabRow[]> {
  const wrong = first.filter(({ ok }) => !ok).map(({ assertion, fact }) => `${assertion}: ${fact}`);
  if (wrong.length === 0) return first;
  console.error(`${title} is run again. ${wrong.join("; ")}`);
  return again().rows;
}

function skippedRow({ name, packages }: LabClient, reason: string): LabRow {
  const version = Object.values(packages)[0]!;
  return { client: name, version, assertion: "run", ok: true, fact: `skipped: ${reason}` };
}

function chosen(): readonly LabClient[] {
  if (values.all) return LAB_CLIENTS;
  const names = positionals.length > 0 ? positionals : named(values.others ? "others" : "gate");
  return names.map((name) => findClient(name)!);
}

function named(group: LabClient["group"]): string[] {
  return LAB_CLIENTS.filter((client) => client.group === group).map(({ name }) => name);
}

function print({ title }: LabClient, found: readonly LabRow[]): void {
  console.log(`\n${title} ${found[0]?.version}`);
  for (const { ok, assertion, fact, value, unit } of found) {
    const about = ASSERTIONS.find(({ name }) => name === assertion)?.title ?? assertion;
    console.log(
      `${ok ? "ok    " : "WRONG "}  ${about}: ${fact}${value === undefined ? "" : ` (${value} ${unit})`}`,
    );
  }
}

function skip(reason: string): never {
  console.error(reason);
  if (values.json) console.log("[]");
  process.exit(0);
}
