import { createTwoFilesPatch } from "diff";
import type { ConnectionPlan, FileChange, MovedServer } from "../clients/plan-connection.ts";
import type { ServerProgram } from "../schema/server-program.ts";
import type { McpServerConfig } from "../sources/mcp/config/server-config.ts";
import { createMcpSource } from "../sources/mcp/mcp-source.ts";
import { createRedact } from "../util/redact.ts";
import { secretsInArgs, secretsInFields } from "../util/secret-values.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { showProgram } from "./show-program.ts";

/** Describes what a server that moves would run. Starts nothing. */
export function programOf(
  { name, config }: Pick<MovedServer, "name" | "config">,
  home: string,
): ServerProgram {
  return createMcpSource(name, config, { cwd: home }).program();
}

/** The whole plan for a person who decides: the servers, those that stay, and every changed line. */
export function connectionLines(plan: ConnectionPlan, home: string): string[] {
  const { client, moved, staying, projects, files, own } = plan;
  const programs = moved.map((server) => programOf(server, home));
  const hide = createRedact(programs.flatMap(secretsOf), { kinds: true });
  return [
    `These servers of ${client.title} will run behind Keyhole (${moved.length}):`,
    ...moved.flatMap(({ name, config, notes }, index) => [
      `  ${toVisibleLine(name)}`,
      ...[...showProgram(programs[index]!), ...toolLines(config)].map((line) => `    ${line}`),
      ...notes.map((note) => `    note     ${toVisibleLine(note)}`),
    ]),
    ...staying.map(({ name, stays }) => toVisibleLine(`  ${name} stays with ${client.title}: ${stays}.`)),
    ...projects.map(({ place, servers }) =>
      toVisibleLine(
        `  ${place.path} has ${servers.length} servers of a project; --projects moves them, too.`,
      ),
    ),
    "",
    ...[...files, ...(own ? [own] : [])].flatMap((file) => hide(diffOf(file)).split("\n").map(toVisibleLine)),
  ];
}

/** The tools that a config leaves out. */
export function toolLines({ includeTools, excludeTools }: McpServerConfig): string[] {
  return [
    ...(includeTools ? [`only     ${includeTools.map(toVisibleLine).join(", ")}`] : []),
    ...(excludeTools ? [`without  ${excludeTools.map(toVisibleLine).join(", ")}`] : []),
  ];
}

function diffOf({ path, before, after }: FileChange): string {
  const from = before === undefined ? "/dev/null" : path;
  return createTwoFilesPatch(from, path, before ?? "", after, undefined, undefined, {
    context: 2,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  }).trimEnd();
}

function secretsOf({ runs }: ServerProgram): string[] {
  if ("url" in runs) return secretsInFields(runs.headers);
  return [...secretsInFields(runs.env), ...secretsInArgs(runs.args)];
}
