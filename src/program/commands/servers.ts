import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { showProgram } from "../../core/access/consents.ts";
import { whyAsk } from "../../core/calls/decide-call.ts";
import { DOES, type Entry, type ToolEntry } from "../../core/nouns/entry.ts";
import type { AskBefore } from "../../core/nouns/question.ts";
import { definitionTokens } from "../../gateway/approvals.ts";
import { isolationFault } from "../../sources/isolation/isolation.ts";
import { showLimits } from "../../sources/isolation/propose-limits.ts";
import { profileSchema, rulesOf } from "../../sources/mcp/config/overrides.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
import { CLIENTS } from "../clients/clients.ts";
import { findConfigs } from "../clients/find-configs.ts";
import { daemonLine, requestDaemon } from "../daemon/run-daemon.ts";
import { measureServers, type ServerCost } from "../doctor/measure-servers.ts";
import { savingLines } from "../doctor/savings.ts";
import { type OpenedConfig, openConfig } from "../open/open-config.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";
import { openConsents, openTokens } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { thisMachine } from "../open/user-folders.ts";
import { checkNames, defineCommand, wrapText } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

export const servers = defineCommand({
  name: "servers",
  page: "clients.md",
  words: "[NAME]",
  about: `Shows the clients that are connected, the daemon that serves them, the agents, and every server with its
    state, tools and tokens, and what to type where one waits. With NAME, shows one server: what it runs, and each tool
    with the name that calls it, what it does, whether its calls ask you first, and its tokens. Starts only servers that you have approved, and only if
    their listing is older than a day.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async ({ words: [name], config, json }) => {
    const opened = await openConfig({ config, everyProfile: true });
    for (const { message } of opened.loaded.problems) console.error(toVisibleLine(message));
    const shown = name === undefined ? await overview(opened) : await describeServer(name, opened);
    console.log(json ? JSON.stringify(shown.data, null, 2) : shown.lines.join("\n"));
  },
});

/** The same facts for programs and for people. */
interface Shown {
  readonly data: object;
  readonly lines: readonly string[];
}

async function overview(opened: OpenedConfig): Promise<Shown> {
  const found = await findConfigs(CLIENTS, thisMachine());
  const connected = [...new Set(found.flatMap(({ client, isConnected }) => (isConnected ? client : [])))];
  const [measured, daemon] = await Promise.all([
    measureServers(
      opened.servers,
      // Clients are connected to Keyhole's own config.
      opened.config === undefined
        ? connected.map((client) => ({ client, labels: labelsOf(client.name, opened) }))
        : [],
      opened.options.pins,
    ),
    requestDaemon("status"),
  ]);
  const clients = connected.map(({ title }) => title);
  const users = connected.map(({ name, title }) => {
    const { servers: own } = fieldsOf(field(opened.settings.profiles, name));
    const names = Object.keys(fieldsOf(own));
    return names.length === 0 ? title : `${title} (${names.join(", ")})`;
  });
  const tokens = await openTokens(opened.state).list();
  const agents = tokens.map(({ name, expiresAt }) => ({
    name,
    ...(expiresAt !== undefined && { expiresAt }),
  }));
  const rows = await Promise.all(
    measured.servers.map(async ({ label, ...cost }, index) => {
      const facts = await programFacts(opened.servers[index]!, opened);
      const state = stateOf(opened.servers[index]!, cost, facts.isApproved, opened.config);
      return { name: label, state, ...facts, ...cost };
    }),
  );
  const { savings } = measured;
  const named = agents.map(({ name }) => name).join(", ");
  return {
    data: {
      version: PROGRAM_VERSION,
      clients,
      daemon: daemon ?? null,
      agents,
      servers: rows,
      savings,
    },
    lines: [
      ...fact("clients", users.join(", ") || "none connected: keyhole connect CLIENT"),
      ...fact("daemon", daemon ? daemonLine(daemon) : "not running; the first client starts it"),
      ...fact("agents", named || "none over HTTP"),
      ...fact("servers", String(rows.length || "none: keyhole add NAME -- COMMAND ARGS")),
      ...rows.flatMap((row) => serverRow(row, Math.max(...rows.map(({ name }) => name.length)))),
      ...(savings.length > 0 ? ["", ...savingLines(savings)] : []),
    ],
  };
}

/** The servers that a connected client has: those of its profile, or all. */
function labelsOf(client: string, { servers, loaded }: OpenedConfig): string[] {
  const { data: profile = {} } = profileSchema.safeParse(loaded.settings.profiles[client]);
  const rules = rulesOf(profile);
  return servers.map(({ label }) => label).filter((label) => !rules || Object.hasOwn(rules, label));
}

/** The values of variables and headers may be secret, so JSON has the lines that people see. */
async function programFacts(server: Pick<ServerSource, "program">, { state }: Pick<OpenedConfig, "state">) {
  const program = server.program();
  const isApproved = await openConsents(state).isGiven(program);
  return { isApproved, hash: program.hash, runs: showProgram(program) };
}

function fact(name: string, text: string): string[] {
  return fitted(name.padEnd(9), text);
}

type ServerRow = Omit<ServerCost, "label"> & { readonly name: string; readonly state: string };

function serverRow({ name, tools, tokens, state, failure }: ServerRow, width: number): string[] {
  const cost = failure === undefined && tools > 0 ? costOf(tools, tokens) : "";
  return fitted(`  ${name.padEnd(width)}  ${cost.padEnd(COST_WIDTH)}  `, state);
}

const COST_WIDTH = 26;
const INDENT = " ".repeat(8);

function costOf(tools: number, tokens: number): string {
  const shown = [tools, tokens].map((count) => count.toLocaleString("en-US"));
  return `${shown[0]!.padStart(5)} ${tools === 1 ? "tool " : "tools"} ${shown[1]!.padStart(7)} tokens`;
}

/** Puts text beside its beginning, in as many lines as the terminal needs. */
function fitted(beginning: string, text: string): string[] {
  const { columns = Number.POSITIVE_INFINITY } = process.stdout;
  const whole = toVisibleLine(`${beginning}${text}`.trimEnd());
  if (whole.length <= columns) return [whole];
  const lines = wrapText(toVisibleLine(text), Math.max(20, columns - INDENT.length));
  return [toVisibleLine(beginning.trimEnd()), ...lines.map((line) => `${INDENT}${line}`)];
}

function stateOf(
  { label, diagnostics }: Pick<ServerSource, "label" | "diagnostics">,
  { failure, waiting, tools }: Pick<ServerCost, "failure" | "waiting" | "tools">,
  isApproved: boolean,
  config: string | undefined,
): string {
  const approve = suggestCommand(["approve", label], config);
  if (!isApproved) return `waits for approval: ${approve}`;
  const { status } = diagnostics();
  if (status?.state === "needs_login") return `${status.reason}: ${suggestCommand(["login", label], config)}`;
  if (failure !== undefined)
    return `down: ${status?.reason ?? failure}. ${suggestCommand(["doctor"], config)} says how to fix it`;
  if (waiting === 0) return "ready";
  return `${waiting === tools ? "waits" : `${waiting} of them wait`} for approval: ${approve}`;
}

/** One server: what it runs, and its tools. */
async function describeServer(name: string, opened: OpenedConfig): Promise<Shown> {
  const { options, servers, config } = opened;
  const { domains, sources, pins } = options;
  const { gateway, close } = openGateway({ options: { domains, sources, pins } });
  try {
    await gateway.ready();
    const names = [...servers.map(({ label }) => label), ...domains.map((domain) => domain.name)];
    const lists = `${suggestCommand(["servers"], config)} lists all`;
    checkNames("servers", "server", [name], names, lists);
    const server = servers.find(({ label }) => label === name);
    const failures = await listSources(gateway, ({ id, isFresh }) => id === server?.id && !isFresh);
    const countTokens = await loadTokenCounter();
    const entries = (await gateway.view()).entries.filter(
      ({ domain, origin }) => (origin?.source ?? domain) === name,
    );
    const tools = entries
      .filter((entry) => entry.kind === "tool")
      .map((entry) => toRow(entry, options.ask, countTokens));
    const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
    const waiting = tools.filter(({ isApproved }) => !isApproved).length;
    const failure = failures.get(server?.id ?? "");
    const cost = {
      tools: tools.length,
      waiting,
      ...(failure !== undefined && { failure: reasonOf(failure) }),
    };
    const facts = server && (await programFacts(server, opened));
    const state = server && facts ? stateOf(server, cost, facts.isApproved, config) : "ready";
    const offers = [countOf(tools.length, "tool"), ...others(entries)].join(", ");
    const runs = server
      ? [...showProgram(server.program()), ...(await limitLines(server))]
      : ["a part of your config"];
    return {
      data: { name, state, ...facts, tokens, tools, others: others(entries) },
      lines: [
        ...fitted(`${name}  `, state),
        ...runs.map((line) => `  ${line}`),
        ...(tools.length > 0 ? ["", ...toolLines(tools)] : []),
        ...(failure === undefined
          ? ["", `${offers}; ${tokens.toLocaleString("en-US")} tokens if a client listed the tools.`]
          : []),
      ],
    };
  } finally {
    await close();
  }
}

/** The sandbox of a server: the files and hosts that its process has. */
async function limitLines(server: ServerSource): Promise<string[]> {
  const limits = server.limits?.();
  if (!limits) return [];
  const fault = await isolationFault();
  return fault === undefined ? showLimits(limits) : [`sandbox  none on this machine: ${fault}`];
}

type ToolRow = ReturnType<typeof toRow>;

function toRow(
  entry: ToolEntry,
  ask: AskBefore | undefined,
  countTokens: Parameters<typeof definitionTokens>[1],
) {
  return {
    name: String(entry.origin?.definition.name ?? entry.name),
    tool: entry.op,
    does: DOES[entry.lane],
    asks: whyAsk(entry, { asks: ask ?? "never", ...(ask && { byDefault: ask }) }) !== undefined,
    tokens: definitionTokens(entry, countTokens),
    isApproved: entry.status?.state !== "quarantined",
  };
}

/** `name → tool` with what it does, in columns where the terminal has room. */
function toolLines(tools: readonly ToolRow[]): string[] {
  // If all wait, the first line says so.
  const isMarked = tools.some(({ isApproved }) => isApproved);
  const rows = tools.map(({ name, tool, does, asks, tokens, isApproved }) => [
    name,
    `→ ${tool}`,
    asks ? `${does}, asks` : does,
    `${tokens} tokens${isApproved || !isMarked ? "" : ", waits for approval"}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.flatMap((row) => {
    const [name, tool, does, cost] = row.map((text, column) => text.padEnd(widths[column] ?? 0));
    return fitted(`  ${name}  ${tool}  `, `${does}  ${cost}`);
  });
}

const OTHERS = { resource: "document", skill: "skill", prompt: "prompt" } as const;

function others(entries: readonly Entry[]): string[] {
  return Object.entries(OTHERS).flatMap(([kind, word]) => {
    const count = entries.filter((entry) => entry.kind === kind).length;
    return count === 0 ? [] : [countOf(count, word)];
  });
}
