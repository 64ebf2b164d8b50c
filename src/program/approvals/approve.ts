import { INJECTION_KINDS } from "../../base/safety/detect-injection.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { showProgram } from "../../core/access/consents.ts";
import { type Pin, waits } from "../../core/access/pins.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import { definitionTokens } from "../doctor/measure-servers.ts";
import { openConfig } from "../open/open-config.ts";
import { openConsents } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { confirm, hasTerminal, shortHash } from "../terminal/confirm.ts";
import { checkNames, defineCommand } from "../terminal/define-command.ts";
import { CONFIG, REFRESH } from "../terminal/shared-options.ts";
import { allowServers } from "./servers.ts";
import { changeLines, hashOfPins, type Survey, surveyServers } from "./survey-servers.ts";

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
    const survey = await surveyServers({ config, refresh });
    try {
      // Servers that wait for consent were named before.
      const unnamed = survey.unreached.filter(({ label }) => !waiting.includes(label ?? ""));
      for (const { sentence } of unnamed) console.error(toVisibleLine(sentence));
      if (survey.unreached.length > 0) process.exitCode = 1;
      const groups = groupsOf(survey, words, waiting, config);
      const isWaiting = waiting.some((label) => words.length === 0 || words.includes(label));
      if (groups.length === 0) return isWaiting ? undefined : console.log("Nothing waits for approval.");
      const countTokens = await loadTokenCounter();
      if (hasTerminal() && yes === undefined) await askEach(survey, groups, countTokens);
      else await approveAll(survey, groups, countTokens, yes);
    } finally {
      await survey.close();
    }
  },
});

/** The definitions of a server that wait. */
type Group = readonly [source: string, pins: readonly Pin[]];
const ASKING = { operation: "approve", action: "Approving definitions" };

async function askEach(survey: Survey, groups: readonly Group[], countTokens: TokenCounter): Promise<void> {
  for (const group of groups) {
    const [source, pins] = group;
    console.log(block(survey, group, countTokens));
    const agreed = await confirm({
      ...ASKING,
      question: `Approve ${countOf(pins.length, "definition")} of ${toVisibleLine(source)}?`,
      hash: hashOfPins(pins),
      refusal: `Nothing of ${toVisibleLine(source)} is approved.\n`,
    });
    if (agreed) console.log(`Approved: ${await survey.pins.approve({ pins })}.\n`);
  }
}

async function approveAll(
  survey: Survey,
  groups: readonly Group[],
  countTokens: TokenCounter,
  yes: string | undefined,
): Promise<void> {
  for (const group of groups) console.log(block(survey, group, countTokens));
  const pins = groups.flatMap(([, waiting]) => waiting);
  const hash = hashOfPins(pins);
  console.log(`Hash: ${shortHash(hash)}`);
  await confirm({ ...ASKING, question: "", hash, yes });
  console.log(`Approved: ${await survey.pins.approve({ pins })}.`);
}

/**
 * Servers that may not start have said nothing yet that could be approved. In a terminal the person is asked to let
 * them start. Returns the labels of those that still wait.
 */
async function askToStart(config: string | undefined, wanted: readonly string[]): Promise<string[]> {
  const { servers } = await openConfig({ config, everyProfile: true });
  const consents = openConsents();
  const waiting = () =>
    servers.map((server) => server.program()).filter((program) => !consents.isGiven(program));
  const asked = waiting().filter(({ label }) => wanted.length === 0 || wanted.includes(label));
  if (asked.length > 0 && hasTerminal()) await allowServers(asked, consents);
  const allowing = (label: string) => suggestCommand(["servers", "allow", label], config);
  for (const { label } of waiting())
    console.error(toVisibleLine(`${label} waits for your consent to start: ${allowing(label)}`));
  return waiting().map(({ label }) => label);
}

/** The definitions that wait, by server. `notStarted` are servers that a person has not allowed to start. */
function groupsOf(
  { pins, programs }: Survey,
  wanted: readonly string[],
  notStarted: readonly string[],
  config: string | undefined,
): Group[] {
  const sources = new Set([...pins.list().map(({ source }) => source), ...programs.keys(), ...notStarted]);
  const all = `${suggestCommand(["servers"], config)} shows all`;
  checkNames("approve", "server", wanted, [...sources], all);
  return [...Map.groupBy(pins.list().filter(waits), ({ source }) => source)].filter(
    ([source]) => wanted.length === 0 || wanted.includes(source),
  );
}

function block(survey: Survey, [source, pins]: Group, countTokens: TokenCounter): string {
  const program = survey.programs.get(source);
  const rows = pins.map((pin) => {
    const entry = survey.entries.find(({ route }) => route === pin.route);
    return { pin, entry, tokens: definitionTokens(entry, countTokens) };
  });
  const total = rows.reduce((sum, { tokens }) => sum + tokens, 0).toLocaleString("en-US");
  return [
    toVisibleLine(
      `${source}: ${countOf(pins.length, "definition waits", "definitions wait")}, ${total} tokens if a client listed them`,
    ),
    ...(program ? showProgram(program).map((line) => `  ${line}`) : []),
    ...rows.flatMap(({ pin, entry, tokens }) => definitionLines(survey, pin, entry, tokens)),
    "",
  ].join("\n");
}

function definitionLines({ pins }: Survey, pin: Pin, entry: Entry | undefined, tokens: number): string[] {
  const { name = pin.route, description } = fieldsOf(entry?.origin?.definition);
  const lane = entry?.kind === "tool" ? entry.lane : (entry?.kind ?? "");
  const isChanged = pin.state === "changed";
  const head = `${String(name).padEnd(28)} ${lane.padEnd(11)} ${String(tokens).padStart(6)} tokens`;
  const described = typeof description === "string" ? [toVisibleLine(description)] : [];
  const shown = isChanged ? changeLines(pins, pin.route, "changed: ") : described;
  return [
    toVisibleLine(`  ${isChanged ? "~" : "+"} ${head}`),
    ...pin.poison.map((kind) => `      ! It ${INJECTION_KINDS[kind]}.`),
    ...shown.map((line) => `      ${line}`),
  ];
}
