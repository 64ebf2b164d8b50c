import { INJECTION_KINDS } from "../../base/safety/detect-injection.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { showProgram } from "../../core/access/consents.ts";
import { type Pin, waits } from "../../core/access/pins.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import { openConsents } from "../open/stores.ts";
import { confirm, hasTerminal, shortHash } from "../terminal/confirm.ts";
import { checkNames, defineCommand } from "../terminal/define-command.ts";
import { CONFIG, REFRESH } from "../terminal/shared-options.ts";
import { allowServers } from "./servers.ts";
import { findServers, hashOfPins, type Survey, surveyServers } from "./survey-servers.ts";

/** `keyhole approve` */
export const approve = defineCommand({
  name: "approve",
  page: "upstreams.md",
  words: "[SERVER]...",
  about: `Lists the tools that await your approval, by server: what the server runs, and for each definition its lane,
    its tokens, its description and what changed. Asks for each server in the terminal, and first whether a server that
    has not run yet may start. Without a terminal, --yes has to repeat the hash of exactly what was shown. keyhole pins
    diff ROUTE shows one definition whole.`,
  options: {
    config: CONFIG,
    refresh: REFRESH,
    yes: { takes: "HASH", help: "approve exactly what was shown under this hash" },
  },
  notes: "Exits with 1 if something was refused or a server could not be listed.",
  run: async ({ words, config, refresh, yes }) => {
    const waiting = await askToStart(config, words);
    const survey = await surveyServers({ config, source: undefined, refresh });
    try {
      // Servers that wait for consent were named before.
      const unnamed = survey.unreached.filter(({ label }) => !waiting.includes(label ?? ""));
      for (const { sentence } of unnamed) console.error(toVisibleLine(sentence));
      if (survey.unreached.length > 0) process.exitCode = 1;
      const groups = groupsOf(survey, words, waiting);
      if (groups.size === 0) return console.log("Nothing waits for approval.");
      const countTokens = await loadTokenCounter();
      const blocks = new Map(
        [...groups].map(([source, pins]) => [source, block(survey, source, pins, countTokens)]),
      );
      await (hasTerminal() && yes === undefined
        ? askEach(survey, groups, blocks)
        : approveAll(survey, groups, blocks, yes));
    } finally {
      await survey.close();
    }
  },
});

type Groups = ReadonlyMap<string, readonly Pin[]>;
type Blocks = ReadonlyMap<string, readonly string[]>;

async function askEach({ pins }: Survey, groups: Groups, blocks: Blocks): Promise<void> {
  for (const [source, waiting] of groups) {
    console.log(blocks.get(source)!.join("\n"));
    const question = `Approve ${countOf(waiting.length, "definition")} of ${toVisibleLine(source)}?`;
    const agreed = await confirm({
      operation: "approve",
      action: "Approving definitions",
      question,
      hash: hashOfPins(waiting),
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
  const hash = hashOfPins(waiting);
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
  const waiting = () =>
    guarded.map((source) => source.program()).filter((program) => !consents.isGiven(program));
  const asked = waiting().filter(({ label }) => wanted.length === 0 || wanted.includes(label));
  if (asked.length > 0 && hasTerminal()) await allowServers(asked, consents);
  for (const { label } of waiting())
    console.error(toVisibleLine(`${label} waits for your consent to start: keyhole servers allow ${label}`));
  return waiting().map(({ label }) => label);
}

/** The definitions that wait, by server. `notStarted` are servers that a person has not allowed to start. */
function groupsOf(
  { pins, programs }: Survey,
  wanted: readonly string[],
  notStarted: readonly string[],
): Groups {
  const waiting = Map.groupBy(pins.list().filter(waits), ({ source }) => source);
  const sources = new Set([...pins.list().map(({ source }) => source), ...programs.keys(), ...notStarted]);
  checkNames("approve", "server", wanted, [...sources], "keyhole list shows all");
  return new Map([...waiting].filter(([source]) => wanted.length === 0 || wanted.includes(source)));
}

function block(survey: Survey, source: string, pins: readonly Pin[], countTokens: TokenCounter): string[] {
  const program = survey.programs.get(source);
  const rows = pins.map((pin) => ({ pin, entry: survey.entries.find(({ route }) => route === pin.route) }));
  const tokens = rows.map(({ entry }) => tokensOf(entry, countTokens));
  const total = tokens.reduce((sum, count) => sum + count, 0);
  return [
    toVisibleLine(
      `${source}: ${countOf(pins.length, "definition")} wait, ${total.toLocaleString("en-US")} tokens if a client listed them`,
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
    ...pin.poison.map((kind) => `      ! It ${INJECTION_KINDS[kind]}.`),
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
