import { homedir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { isolationFault } from "../../sources/isolation/isolation.ts";
import { checkAnswers } from "../doctor/check-answers.ts";
import { checkProgram } from "../doctor/check-programs.ts";
import { checkClients, checkState, type Finding, problemWith, warningOf } from "../doctor/check-state.ts";
import type { LoadedSettings } from "../open/load-settings.ts";
import { type OpenedConfig, openConfig } from "../open/open-config.ts";
import { withSecrets } from "../open/secrets.ts";
import { thisMachine } from "../open/user-folders.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

export const doctor = defineCommand({
  name: "doctor",
  about: `Finds what is wrong, and says for each thing the cause and the fix: folders and files of Keyhole, the config,
    the configs of MCP clients, and every server. Starts only servers that you have allowed, and changes nothing.`,
  options: { config: CONFIG, "no-start": { help: "start no server" }, json: JSON_OUTPUT },
  notes: "Exits with 1 if there is a problem; warnings alone exit with 0.",
  run: async ({ config, noStart, json }) => {
    const { findings, servers } = await examine(config, !noStart);
    const problems = findings.filter(({ level }) => level === "problem");
    if (json)
      console.log(JSON.stringify({ version: PROGRAM_VERSION, node: process.version, findings }, null, 2));
    else console.log([...findings.flatMap(lines), summary(findings, problems.length, servers)].join("\n"));
    if (problems.length > 0) process.exitCode = 1;
  },
});

async function examine(config: string | undefined, mayStart: boolean) {
  const state = await Array.fromAsync(checkState(homedir(), config));
  const clients = await Array.fromAsync(checkClients(thisMachine()));
  const broken: Finding[] = [];
  const report = (sentence: string) =>
    broken.push(problemWith(config ?? "settings", sentence, "Correct it in the config."));
  try {
    const opened = await openConfig({ config, report, everyProfile: true });
    const servers = await Array.fromAsync(checkServers(opened, mayStart));
    const findings = [...state, ...checkSettings(opened.loaded), ...broken, ...clients, ...servers];
    return { findings, servers: opened.servers.length };
  } catch (error) {
    // A state folder that cannot be used is a finding already.
    if (!isProblem(error) && state.length === 0) throw error;
    const unread = isProblem(error) ? [problemWith(config ?? "config", error.message, error.next)] : [];
    return { findings: [...state, ...unread, ...clients], servers: 0 };
  }
}

async function* checkServers(opened: OpenedConfig, mayStart: boolean): AsyncGenerator<Finding> {
  const variables = withSecrets(process.env);
  const cannotStart = new Set<string>();
  const programs = opened.servers.map((server) => server.program());
  for (const program of programs)
    for (const finding of checkProgram(program, variables)) {
      if (finding.level === "problem") cannotStart.add(program.label);
      yield finding;
    }
  // Two servers that run the same program cost tokens twice and confuse a search.
  for (const [index, { label, runs }] of programs.entries()) {
    const duplicate = programs.slice(0, index).find((other) => isDeepStrictEqual(other.runs, runs));
    if (!duplicate) continue;
    const cause = `it runs exactly what ${duplicate.label} runs`;
    const { config } = opened;
    const fix = config === undefined ? `keyhole remove ${label}` : `Remove one of them from ${config}.`;
    yield warningOf(`server ${label}`, cause, fix);
  }
  const isLimited = ({ runs }: (typeof programs)[number]) =>
    "command" in runs && runs.sandbox !== false && runs.container === undefined;
  const fault = programs.some(isLimited) ? await isolationFault() : undefined;
  // Nothing can be installed for it on other systems.
  if (fault !== undefined && process.platform === "linux")
    yield warningOf("sandbox", `servers see everything that you can: ${fault}`, INSTALL_SANDBOX);
  const startable = opened.servers.filter(({ label }) => !cannotStart.has(label));
  if (mayStart) yield* checkAnswers(startable, opened.config);
}

const INSTALL_SANDBOX =
  "Install bubblewrap (apt-get, dnf, pacman: bubblewrap) and let it make user namespaces; docs/sandbox.md says more.";

function lines({ level, about, cause, fix }: Finding): string[] {
  const mark = level === "problem" ? "✗" : "!";
  return [toVisibleLine(`${mark} ${about}: ${cause}`), toVisibleLine(`  fix: ${fix}`)];
}

function summary(findings: readonly Finding[], problems: number, servers: number): string {
  const counted = countOf(servers, "server");
  if (findings.length === 0)
    return `✓ Keyhole ${PROGRAM_VERSION}, Node ${process.versions.node}, ${counted}: all is well.`;
  return `${countOf(problems, "problem")}, ${countOf(findings.length - problems, "warning")}, ${counted}.`;
}

/** Mistakes in settings files and variables. Their sentences name the place. */
function checkSettings({ problems }: Pick<LoadedSettings, "problems">): Finding[] {
  return problems.map(({ message, next, code, details }) => {
    const about = code === "VARIABLE_INVALID" ? "environment" : String(details.file ?? "settings");
    return problemWith(about, message, next);
  });
}
