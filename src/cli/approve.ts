import { type Pin, waits } from "../access/pins.ts";
import type { Entry } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import { contentHash } from "../util/content-hash.ts";
import { POISON_KINDS } from "../util/find-poison.ts";
import { nearest } from "../util/nearest.ts";
import { loadTokenCounter, type TokenCounter } from "../util/tokens.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { confirm, hasTerminal, shortHash } from "./confirm.ts";
import { openConsents } from "./open-consents.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { allowServers } from "./servers.ts";
import { showProgram } from "./show-program.ts";
import { findServers, type Survey, surveyServers } from "./survey-servers.ts";

const USAGE = `Usage: keyhole approve [SERVER]... [--yes HASH]

Shows the definitions of servers that wait for you, one block for each server: what it runs, and for each definition
its lane, its tokens, its description and what changed. Asks for each server in the terminal, and first whether a server
that has not run yet may start. Without a terminal, --yes has to repeat the hash of exactly what was shown. keyhole pins
diff ROUTE shows one definition whole.

  --config FILE    as for keyhole serve
  --refresh        ask all servers, even those listed within a day
  --yes HASH       approve exactly what was shown under this hash
  -h, --help

Exits with 1 if something was refused or a server could not be listed.`;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("approve", args, {
    config: TEXT,
    refresh: FLAG,
    yes: TEXT,
  });
  if (values.help) return console.log(USAGE);
  const waiting = await askToStart(values.config, positionals);
  const survey = await surveyServers({ config: values.config, source: undefined, refresh: values.refresh });
  try {
    // It was said before why these cannot be listed.
    const others = survey.unreached.filter(
      (reason) => !waiting.some((label) => reason.startsWith(`mcp:${label} `)),
    );
    for (const reason of others) console.error(toVisibleLine(reason));
    if (survey.unreached.length > 0) process.exitCode = 1;
    const groups = groupsOf(survey, positionals);
    if (groups.size === 0) return console.log("Nothing waits for approval.");
    const countTokens = await loadTokenCounter();
    const blocks = new Map(
      [...groups].map(([source, pins]) => [source, block(survey, source, pins, countTokens)]),
    );
    await (hasTerminal() && values.yes === undefined
      ? askEach(survey, groups, blocks)
      : approveAll(survey, groups, blocks, values.yes));
  } finally {
    await survey.close();
  }
}

type Groups = ReadonlyMap<string, readonly Pin[]>;
type Blocks = ReadonlyMap<string, readonly string[]>;

async function askEach({ pins }: Survey, groups: Groups, blocks: Blocks): Promise<void> {
  for (const [source, waiting] of groups) {
    console.log(blocks.get(source)!.join("\n"));
    const question = `Approve ${counted(waiting.length)} of ${toVisibleLine(source)}?`;
    const agreed = await confirm({
      operation: "approve",
      action: "Approving definitions",
      question,
      hash: hashOf(waiting),
    });
    if (agreed) console.log(`Approved: ${await pins.approve({ pins: waiting })}.\n`);
    else {
      process.exitCode = 1;
      console.log(`Nothing of ${toVisibleLine(source)} is approved.\n`);
    }
  }
}

async function approveAll(
  { pins }: Survey,
  groups: Groups,
  blocks: Blocks,
  yes: string | undefined,
): Promise<void> {
  const waiting = [...groups.values()].flat();
  for (const lines of blocks.values()) console.log(lines.join("\n"));
  const hash = hashOf(waiting);
  console.log(`Hash: ${shortHash(hash)}`);
  await confirm({ operation: "approve", action: "Approving definitions", question: "", hash, yes });
  console.log(`Approved: ${await pins.approve({ pins: waiting })}.`);
}

/**
 * Servers that may not start have said nothing yet that could be approved. In a terminal the person is asked to let
 * them start. Returns the labels of those that still wait.
 */
async function askToStart(config: string | undefined, wanted: readonly string[]): Promise<string[]> {
  const { guarded } = await findServers(config);
  const consents = openConsents();
  const waiting = () => guarded.map((source) => source.program()).filter((one) => !consents.isGiven(one));
  const asked = waiting().filter(({ label }) => wanted.length === 0 || wanted.includes(label));
  if (asked.length > 0 && hasTerminal()) await allowServers(asked, consents);
  for (const { label } of waiting())
    console.error(toVisibleLine(`${label} waits for your consent to start: keyhole servers allow ${label}`));
  return waiting().map(({ label }) => label);
}

function groupsOf({ pins }: Survey, wanted: readonly string[]): Groups {
  const waiting = Map.groupBy(pins.list().filter(waits), ({ source }) => source);
  const sources = [...new Set(pins.list().map(({ source }) => source))];
  for (const name of wanted) {
    if (sources.includes(name)) continue;
    const [near] = nearest(name, sources);
    const reason = `server ${toVisibleLine(name)} not found; ${near ? `nearest: ${near}` : "keyhole list shows all"}`;
    throw problem("INVALID_INPUT", { operation: "approve", reason });
  }
  return new Map([...waiting].filter(([source]) => wanted.length === 0 || wanted.includes(source)));
}

function block(survey: Survey, source: string, pins: readonly Pin[], countTokens: TokenCounter): string[] {
  const program = survey.programs.get(source);
  const rows = pins.map((pin) => ({ pin, entry: survey.entries.find(({ route }) => route === pin.route) }));
  const tokens = rows.map(({ entry }) => tokensOf(entry, countTokens));
  const total = tokens.reduce((sum, count) => sum + count, 0);
  return [
    toVisibleLine(
      `${source}: ${counted(pins.length)} wait, ${total.toLocaleString("en-US")} tokens if a client listed them`,
    ),
    ...(program ? showProgram(program).map((line) => `  ${line}`) : []),
    ...rows.flatMap(({ pin, entry }, index) => definitionLines(survey, pin, entry, tokens[index]!)),
    "",
  ];
}

function definitionLines({ pins }: Survey, pin: Pin, entry: Entry | undefined, tokens: number): string[] {
  const { name, description } = (entry?.origin?.definition ?? {}) as {
    name?: unknown;
    description?: unknown;
  };
  const lane = entry?.kind === "tool" ? entry.lane : (entry?.kind ?? "");
  const mark = pin.state === "changed" ? "~" : "+";
  const head = `  ${mark} ${String(name ?? pin.route).padEnd(28)} ${lane.padEnd(11)} ${String(tokens).padStart(6)} tokens`;
  const changes = pin.state === "changed" ? pins.diff(pin.route) : [];
  return [
    toVisibleLine(head),
    ...pin.poison.map((kind) => `      ! It ${POISON_KINDS[kind]}.`),
    ...(pin.state === "changed" || typeof description !== "string"
      ? []
      : [toVisibleLine(`      ${description}`)]),
    ...changes.flatMap((change) => [
      toVisibleLine(`      changed: ${change.path}`),
      ...("before" in change ? [toVisibleLine(`      - ${JSON.stringify(change.before)}`)] : []),
      ...("after" in change ? [toVisibleLine(`      + ${JSON.stringify(change.after)}`)] : []),
    ]),
  ];
}

function tokensOf(entry: Entry | undefined, countTokens: TokenCounter): number {
  const { name, description, inputSchema } = entry?.origin?.definition ?? {};
  return countTokens(JSON.stringify({ name, description, inputSchema }));
}

function hashOf(pins: readonly Pin[]): string {
  return contentHash(pins.map(({ route, hash, program }) => [route, hash, program]));
}

function counted(count: number): string {
  return count === 1 ? "1 definition" : `${count} definitions`;
}
