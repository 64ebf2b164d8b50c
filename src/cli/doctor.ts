import { homedir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { isProblem } from "../schema/problem.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkClients } from "./check-clients.ts";
import { checkProgram } from "./check-programs.ts";
import { checkSettings } from "./check-settings.ts";
import { checkState } from "./check-state.ts";
import { type Finding, problemWith, warningOf } from "./finding.ts";
import { type OpenedConfig, openConfig } from "./open-config.ts";
import { withSecrets } from "./open-secrets.ts";
import { FLAG, readArgs, TEXT } from "./read-args.ts";
import { thisMachine } from "./this-machine.ts";

const USAGE = `Usage: keyhole doctor [--config FILE] [--no-start] [--json]

Finds what is wrong, and says for each thing the cause and the fix: folders and files of Keyhole, the config, the
configs of MCP clients, and every server. Starts only servers that you have allowed, and changes nothing.

  --config FILE    as for keyhole serve
  --no-start       start no server
  --json
  -h, --help

Exits with 1 if there is a problem; warnings alone exit with 0.`;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = readArgs("doctor", args, {
    config: TEXT,
    "no-start": FLAG,
    json: FLAG,
  });
  if (values.help) return console.log(USAGE);
  const { findings, servers } = await examine(values.config, !values["no-start"]);
  const problems = findings.filter(({ level }) => level === "problem");
  if (values.json)
    console.log(JSON.stringify({ version: PROGRAM_VERSION, node: process.version, findings }, null, 2));
  else console.log([...findings.flatMap(lines), summary(findings, problems.length, servers)].join("\n"));
  if (problems.length > 0) process.exitCode = 1;
}

async function examine(config: string | undefined, mayStart: boolean) {
  const told: string[] = [];
  const before = await checkState(homedir());
  const clients = await checkClients(thisMachine());
  const opened = await openConfig({ config, report: (sentence) => told.push(sentence) }).catch(
    (error: unknown) => {
      if (isProblem(error)) return problemWith(config ?? "config", error.message, error.next);
      throw error;
    },
  );
  if ("level" in opened) return { findings: [...before, opened, ...clients], servers: 0 };
  const broken = told.map((sentence) =>
    problemWith(config ?? "settings", sentence, "Correct it in the config."),
  );
  const findings = [
    ...before,
    ...checkSettings(opened.loaded),
    ...broken,
    ...clients,
    ...(await checkServers(opened, mayStart)),
  ];
  return { findings, servers: opened.servers.length };
}

async function checkServers(opened: OpenedConfig, mayStart: boolean): Promise<Finding[]> {
  const variables = withSecrets(process.env);
  const statics = opened.servers.map((source) => ({
    id: source.id,
    found: checkProgram(source.program(), variables),
  }));
  const hopeless = statics
    .filter(({ found }) => found.some(({ level }) => level === "problem"))
    .map(({ id }) => id);
  return [
    ...statics.flatMap(({ found }) => found),
    ...twins(opened),
    ...(mayStart ? await checkAnswers(opened, new Set(hopeless)) : []),
  ];
}

/** Two servers that run the same cost twice and confuse a search. */
function twins({ servers }: OpenedConfig): Finding[] {
  const programs = servers.map((source) => source.program());
  return programs.flatMap((program, index) => {
    const twin = programs.slice(0, index).find((other) => isDeepStrictEqual(other.runs, program.runs));
    if (!twin) return [];
    const cause = `it runs exactly what ${twin.label} runs`;
    return [warningOf(`server ${program.label}`, cause, `keyhole remove ${program.label}`)];
  });
}

function lines({ level, about, cause, fix }: Finding): string[] {
  const mark = level === "problem" ? "✗" : "!";
  return [toVisibleLine(`${mark} ${about}: ${cause}`), toVisibleLine(`  fix: ${fix}`)];
}

function summary(findings: readonly Finding[], problems: number, servers: number): string {
  const counted = `${servers} ${servers === 1 ? "server" : "servers"}`;
  if (findings.length === 0)
    return `✓ Keyhole ${PROGRAM_VERSION}, Node ${process.versions.node}, ${counted}: all is well.`;
  const others = findings.length - problems;
  return `${problems} ${problems === 1 ? "problem" : "problems"}, ${others} ${others === 1 ? "warning" : "warnings"}, ${counted}.`;
}
