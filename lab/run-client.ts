import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { ASSERTIONS } from "./assertions.ts";
import type { Finding, LabRow, Seen } from "./finding.ts";
import { type LabClient, SCENARIOS, type ScenarioName } from "./lab-client.ts";
import { spawnInNamespace } from "./namespace.ts";
import type { Assignment, Observed } from "./observed.ts";
import { scenario } from "./scenarios.ts";
import { stepSeen } from "./step-seen.ts";
import { whyNoTerminal } from "./terminal.ts";

export interface RunOptions {
  readonly installed: string;
  readonly version: string;
  /** How long the silent call lasts. */
  readonly seconds: number;
  /** Runs this one alone. */
  readonly scenario?: ScenarioName | undefined;
  readonly serveArgs: readonly string[];
  /** Keeps the folders of the runs for a look. */
  readonly keep: boolean;
}

/** A run of all scenarios of a client, side by side. */
export interface ClientRun {
  /** Settles when the silent call alone is left: it needs time, but no processor. */
  readonly idle: Promise<unknown>;
  /** A row for each assertion. */
  readonly rows: Promise<LabRow[]>;
}

export function runClient(client: LabClient, options: RunOptions): ClientRun {
  const runs = scenariosOf(client, options).map((name) => ({
    name,
    rows: scenarioRows(client, name, options),
  }));
  const order = ASSERTIONS.map(({ name }) => name);
  return {
    idle: Promise.all(runs.filter(({ name }) => name !== "silent").map(({ rows }) => rows)),
    rows: Promise.all(runs.map(({ rows }) => rows)).then((rows) =>
      rows.flat().sort((a, b) => order.indexOf(a.assertion) - order.indexOf(b.assertion)),
    ),
  };
}

async function scenarioRows(client: LabClient, name: ScenarioName, options: RunOptions): Promise<LabRow[]> {
  const observed = await runScenario(client, name, options);
  const countTokens = await loadTokenCounter();
  const seen = typeof observed === "string" ? observed : toSeen(client, observed, name, options, countTokens);
  return ASSERTIONS.filter((row) => row.scenario === name).map(({ name: assertion, check }) => {
    const finding = typeof seen === "string" ? { ok: false, fact: seen } : safely(() => check(seen));
    return { client: client.name, version: options.version, assertion, ...finding };
  });
}

function scenariosOf({ title, person }: LabClient, { scenario: only }: RunOptions): ScenarioName[] {
  const missing = person && whyNoTerminal();
  if (missing) console.error(`No person answers questions in ${title}: ${missing}.`);
  return SCENARIOS.filter((name) => name !== "person" || (person && !missing)).filter(
    (name) => only === undefined || only === name,
  );
}

function toSeen(
  client: LabClient,
  observed: Observed,
  name: ScenarioName,
  { seconds }: RunOptions,
  countTokens: Seen["countTokens"],
): Seen {
  const { steps } = scenario(name, seconds);
  return { client, observed, seconds, countTokens, step: (id) => stepSeen(observed, steps, id) };
}

/** The observations, or why there are none. */
async function runScenario(
  client: LabClient,
  name: ScenarioName,
  { installed, seconds, serveArgs, keep }: RunOptions,
): Promise<Observed | string> {
  const folder = await mkdtemp(join(tmpdir(), `kh-${client.name}-${name}-`));
  const assignment: Assignment = {
    client: client.name,
    scenario: name,
    folder,
    installed,
    dist: resolve("dist"),
    serveArgs,
    seconds: name === "silent" ? seconds : 0,
  };
  const inside = resolve(import.meta.dirname, "inside.ts");
  try {
    const child = spawnInNamespace(process.execPath, [inside, JSON.stringify(assignment)]);
    const [stderr] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    const found = await readFile(join(folder, "observed.json"), "utf8").catch(() => undefined);
    if (keep) console.error(`${client.name} ${name}: ${folder}`);
    if (!found) return `the run broke: ${stderr.trim().slice(-300)}`;
    const observed = JSON.parse(found) as Observed;
    return observed.code === null ? `the client never ended: ${observed.output.slice(-300)}` : observed;
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
}

function safely(check: () => Finding): Finding {
  try {
    return check();
  } catch (error) {
    return { ok: false, fact: `the observation is incomplete: ${(error as Error).message}` };
  }
}
