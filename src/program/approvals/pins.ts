import { INJECTION_KINDS } from "../../base/safety/detect-injection.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { type Pin, type PinSelection, type PinState, type Pins, waits } from "../../core/access/pins.ts";
import { tellDamage } from "../open/person-grants.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { confirm, shortHash } from "../terminal/confirm.ts";
import { defineCommand, invalid, notFound } from "../terminal/define-command.ts";
import { ALL, CONFIG, JSON_OUTPUT, REFRESH } from "../terminal/shared-options.ts";
import { changeLines, hashOfPins, type Survey, surveyServers } from "./survey-servers.ts";

type Action = (survey: Survey, target: string, yes: string | undefined) => Promise<void> | void;

const ACTIONS: Readonly<Record<string, Action>> = { diff: showDiff, approve, revoke };
const EVERYTHING = "--all";
const ORDER: readonly PinState[] = ["flagged", "changed", "pending", "approved", "trusted"];

export const pins = defineCommand({
  name: "pins",
  page: "upstreams.md",
  words: { "": "[CONFIG]", diff: "ROUTE", approve: "[SOURCE|ROUTE]", revoke: "[SOURCE|ROUTE]" },
  forms: ["[CONFIG]", "diff ROUTE", "approve SOURCE|ROUTE|--all", "revoke SOURCE|ROUTE|--all"],
  about: `Lists the definitions of upstream servers and whether each is approved, pending ones first. diff shows how a
    definition differs from the approved one. approve shows definitions, warns of those that try to steer a model, asks,
    and accepts them exactly as they are shown; revoke takes approvals back. A running gateway notices within a second.
    Servers that wait for a consent to start are not listed: keyhole servers shows what they run.`,
  options: {
    config: CONFIG,
    refresh: REFRESH,
    all: ALL,
    yes: { takes: "HASH", help: "approve without a terminal exactly what was listed under this hash" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if a server could not be listed.",
  run: async ({ action: name, words: [word], ...input }) => {
    const action = ACTIONS[name];
    if (action && input.all === (word !== undefined))
      throw invalid("pins", `${name} needs SOURCE, ROUTE or --all`);
    const target = input.all ? EVERYTHING : word;
    const survey = await surveyServers({
      config: input.config ?? (action ? undefined : word),
      source: action && target?.split("://")[0],
      refresh: input.refresh,
    });
    try {
      tellDamage(survey.pins.damage);
      for (const { sentence } of survey.unreached) console.error(toVisibleLine(sentence));
      if (survey.unreached.length > 0) process.exitCode = 1;
      if (action) await action(survey, target ?? "", input.yes);
      else list(survey, input.json);
    } finally {
      await survey.close();
    }
  },
});

function list({ pins }: Survey, json: boolean): void {
  const listed = pins
    .list()
    .toSorted((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state));
  if (json) {
    const rows = listed.map(({ program: _, ...pin }) => pin);
    return void console.log(JSON.stringify(rows, null, 2));
  }
  const width = (field: "route" | "source") =>
    Math.max(0, ...listed.map((pin) => toVisibleLine(pin[field]).length));
  const [routes, sources] = [width("route"), width("source")];
  for (const { route, source, state, poison } of listed) {
    const why = poison.length > 0 ? `  warning: ${poison.join(", ")}` : "";
    const place = `${toVisibleLine(route).padEnd(routes)}  ${toVisibleLine(source).padEnd(sources)}`;
    console.log(`${place}  ${state}${why}`);
  }
  const counts = ORDER.flatMap((state) => {
    const count = listed.filter((pin) => pin.state === state).length;
    return count === 0 ? [] : `${count} ${state}`;
  });
  console.log(
    `${countOf(listed.length, "definition")}${counts.length === 0 ? "" : `: ${counts.join(", ")}`}.`,
  );
}

function showDiff({ pins, config }: Survey, route: string): void {
  const pin = pins.list().find((one) => one.route === route);
  if (!pin) throw missing(route, pins.list(), config);
  showChanges(pins, pin);
  if (pins.diff(route).length === 0) console.log("It has not changed since it was approved.");
}

/** Shows a definition whole: a person decides by it. */
function showChanges(pins: Pins, { route, state, poison }: Pin): void {
  console.log(`${toVisibleLine(route)}  ${state}`);
  for (const kind of poison) console.log(`! It ${INJECTION_KINDS[kind]}.`);
  for (const line of changeLines(pins, route)) console.log(line);
}

async function approve({ pins, config }: Survey, target: string, yes: string | undefined): Promise<void> {
  const chosen = choose(pins.list(), target, config).filter(waits);
  if (chosen.length === 0) return console.log("Nothing waits for approval.");
  for (const pin of chosen) showChanges(pins, pin);
  const hash = hashOfPins(chosen);
  console.log(`Hash: ${shortHash(hash)}`);
  const question = `Approve ${chosen.length === 1 ? "this definition" : `these ${chosen.length} definitions`}?`;
  const agreed = await confirm({
    operation: "pins",
    action: "Approving definitions",
    question,
    hash,
    yes,
    refusal: "Nothing is approved.",
  });
  if (agreed) console.log(`Approved: ${await pins.approve({ pins: chosen })}.`);
}

async function revoke({ pins, config }: Survey, target: string): Promise<void> {
  const chosen = choose(pins.list(), target, config).filter(
    ({ state }) => state === "approved" || state === "changed",
  );
  const count = await pins.revoke(selectionOf(target));
  for (const { route } of chosen) console.log(toVisibleLine(route));
  console.log(`Revoked: ${count}.`);
}

function choose(pins: readonly Pin[], target: string, config: string | undefined): readonly Pin[] {
  const chosen = pins.filter(({ route, source }) => [EVERYTHING, route, source].includes(target));
  if (chosen.length > 0 || target === EVERYTHING) return chosen;
  throw missing(target, pins, config);
}

function selectionOf(target: string): PinSelection {
  if (target === EVERYTHING) return "all";
  return target.includes("://") ? { route: target } : { source: target };
}

function missing(target: string, pins: readonly Pin[], config: string | undefined) {
  const names = pins.flatMap(({ route, source }) => [route, source]);
  return notFound("pins", ["definition", target], names, `${suggestCommand(["pins"], config)} lists all`);
}
