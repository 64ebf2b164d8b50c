import { homedir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
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
  const sentences: string[] = [];
  const before = await checkState(homedir());
  const clients = await checkClients(thisMachine());
  const opened = await openConfig({ config, report: (sentence) => sentences.push(sentence) }).catch(
    (error: unknown) => {
      if (isProblem(error)) return problemWith(config ?? "config", error.message, error.next);
      throw error;
    },
  );
  if ("level" in opened) return { findings: [...before, opened, ...clients], servers: 0 };
  const broken = sentences.map((sentence) =>
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
  const programs = opened.servers.map((source) => ({
    id: source.id,
    findings: checkProgram(source.program(), variables),
  }));
  const cannotStart = programs
    .filter(({ findings }) => findings.some(({ level }) => level === "problem"))
    .map(({ id }) => id);
  return [
    ...programs.flatMap(({ findings }) => findings),
    ...duplicateServers(opened),
    ...(mayStart ? await checkAnswers(opened, new Set(cannotStart)) : []),
  ];
}

/** Two servers that run the same program cost tokens twice and confuse a search. */
function duplicateServers({ servers }: OpenedConfig): Finding[] {
  const programs = servers.map((source) => source.program());
  return programs.flatMap((program, index) => {
    const duplicate = programs.slice(0, index).find((other) => isDeepStrictEqual(other.runs, program.runs));
    if (!duplicate) return [];
    const cause = `it runs exactly what ${duplicate.label} runs`;
    return [warningOf(`server ${program.label}`, cause, `keyhole remove ${program.label}`)];
  });
}

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
