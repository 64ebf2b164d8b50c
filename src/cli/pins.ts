import { type Pin, type PinSelection, type PinState, type Pins, waits } from "../access/pins.ts";
import { problem } from "../schema/problem.ts";
import { contentHash } from "../util/content-hash.ts";
import { cutText } from "../util/cut-text.ts";
import { POISON_KINDS } from "../util/find-poison.ts";
import { nearest } from "../util/nearest.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { confirm, shortHash } from "./confirm.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { type Survey, surveyServers } from "./survey-servers.ts";

const USAGE = `Usage: keyhole pins [CONFIG]
       keyhole pins diff ROUTE
       keyhole pins approve SOURCE|ROUTE|--all
       keyhole pins revoke SOURCE|ROUTE|--all

Lists the definitions of upstream servers and whether each is approved, pending ones first. diff shows how a
definition differs from the approved one. approve shows definitions, warns of those that try to steer a model,
asks, and accepts them exactly as they are shown; revoke takes approvals back. A running gateway notices within a
second. Servers that wait for a consent to start are not listed: keyhole servers shows what they run.

  --config FILE    as for keyhole serve
  --refresh        ask all servers, even those listed within a day
  --all            approve or revoke everything
  --yes HASH       approve without a terminal exactly what was listed under this hash
  --json           the list as JSON
  -h, --help

Exits with 1 if a server could not be listed.`;

type Action = (survey: Survey, target: string, yes: string | undefined) => Promise<void> | void;

const ACTIONS: Readonly<Record<string, Action>> = { diff: showDiff, approve, revoke };
const ALL = "--all";
const ORDER: readonly PinState[] = ["flagged", "changed", "pending", "approved", "trusted"];

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readOptions(args);
  if (values.help) return console.log(USAGE);
  const [first = "", second] = positionals;
  const action = Object.hasOwn(ACTIONS, first) ? ACTIONS[first] : undefined;
  const target = values.all ? ALL : second;
  const given = positionals.length + (action && values.all ? 1 : 0);
  if (given > (action ? 2 : 1)) throw invalid("too many arguments");
  if (action && target === undefined) throw invalid(`${first} needs a source or a route`);

  const survey = await surveyServers({
    config: values.config ?? (action ? undefined : positionals[0]),
    source: action && target?.split("://")[0],
    refresh: values.refresh,
  });
  try {
    if (survey.pins.damage) console.error(survey.pins.damage);
    for (const reason of survey.unreached) console.error(toVisibleLine(reason));
    if (survey.unreached.length > 0) process.exitCode = 1;
    if (action) await action(survey, target ?? "", values.yes);
    else list(survey, values.json);
  } finally {
    await survey.close();
  }
}

function list({ pins }: Survey, json: boolean): void {
  const found = pins.list().toSorted((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state));
  if (json) {
    console.log(JSON.stringify(found.map(toJson), null, 2));
    return;
  }
  const width = (field: "route" | "source") =>
    Math.max(0, ...found.map((pin) => toVisibleLine(pin[field]).length));
  const [routes, sources] = [width("route"), width("source")];
  for (const { route, source, state, poison } of found) {
    const why = poison.length > 0 ? `  warning: ${poison.join(", ")}` : "";
    const place = `${toVisibleLine(route).padEnd(routes)}  ${toVisibleLine(source).padEnd(sources)}`;
    console.log(`${place}  ${state}${why}`);
  }
  const counts = ORDER.flatMap((state) => {
    const count = found.filter((pin) => pin.state === state).length;
    return count === 0 ? [] : `${count} ${state}`;
  });
  console.log(`${found.length} definitions${counts.length === 0 ? "" : `: ${counts.join(", ")}`}.`);
}

function toJson({ route, source, state, hash, poison }: Pin) {
  return { route, source, state, hash, poison };
}

function showDiff({ pins }: Survey, route: string): void {
  const pin = pins.list().find((one) => one.route === route);
  if (!pin)
    throw unknown(
      route,
      pins.list().map((one) => one.route),
    );
  showChanges(pins, pin);
  if (pins.diff(route).length === 0) console.log("It has not changed since it was approved.");
}

/** Shows a definition whole: a person decides by it. */
function showChanges(pins: Pins, { route, state, poison }: Pin): void {
  console.log(`${toVisibleLine(route)}  ${state}`);
  for (const kind of poison) console.log(`! It ${POISON_KINDS[kind]}.`);
  for (const change of pins.diff(route)) {
    console.log(toVisibleLine(change.path));
    if ("before" in change) console.log(`- ${toVisibleLine(JSON.stringify(change.before))}`);
    if ("after" in change) console.log(`+ ${toVisibleLine(JSON.stringify(change.after))}`);
  }
}

async function approve({ pins }: Survey, target: string, yes: string | undefined): Promise<void> {
  const chosen = choose(pins.list(), target).filter(waits);
  if (chosen.length === 0) return console.log("Nothing waits for approval.");
  for (const pin of chosen) showChanges(pins, pin);
  const hash = contentHash(
    chosen.map(({ route, hash: definition, program }) => [route, definition, program]),
  );
  console.log(`Hash: ${shortHash(hash)}`);
  const question = `Approve ${chosen.length === 1 ? "this definition" : `these ${chosen.length} definitions`}?`;
  const agreed = await confirm({
    operation: "pins",
    action: "Approving definitions",
    question,
    hash,
    yes,
  });
  if (!agreed) {
    process.exitCode = 1;
    return console.log("Nothing is approved.");
  }
  console.log(`Approved: ${await pins.approve({ pins: chosen })}.`);
}

async function revoke({ pins }: Survey, target: string): Promise<void> {
  const chosen = choose(pins.list(), target).filter(
    ({ state }) => state === "approved" || state === "changed",
  );
  const count = await pins.revoke(selectionOf(target));
  for (const { route } of chosen) console.log(toVisibleLine(route));
  console.log(`Revoked: ${count}.`);
}

function choose(pins: readonly Pin[], target: string): readonly Pin[] {
  const chosen = pins.filter(({ route, source }) => [ALL, route, source].includes(target));
  if (chosen.length > 0 || target === ALL) return chosen;
  throw unknown(
    target,
    pins.flatMap(({ route, source }) => [route, source]),
  );
}

function selectionOf(target: string): PinSelection {
  if (target === ALL) return "all";
  return target.includes("://") ? { route: target } : { source: target };
}

function unknown(target: string, names: readonly string[]) {
  const near = nearest(target, names);
  const hint = near.length === 0 ? "keyhole pins lists all" : `nearest: ${near.join(", ")}`;
  return invalid(toVisibleLine(`${cutText(target, 128)} not found; ${hint}`));
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("pins", args, {
    config: TEXT,
    refresh: FLAG,
    all: FLAG,
    yes: TEXT,
    json: FLAG,
  });
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "pins", reason });
}
