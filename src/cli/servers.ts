import type { Consents } from "../access/consents.ts";
import { problem } from "../schema/problem.ts";
import type { ServerProgram } from "../schema/server-program.ts";
import { contentHash } from "../util/content-hash.ts";
import { nearest } from "../util/nearest.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { confirm, shortHash } from "./confirm.ts";
import { openConsents } from "./open-consents.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { showProgram } from "./show-program.ts";
import { findServers } from "./survey-servers.ts";

const USAGE = `Usage: keyhole servers [CONFIG]
       keyhole servers allow LABEL|--all
       keyhole servers revoke LABEL|--all

Lists the servers of a JSON config and of the settings, and exactly what each runs or reaches. allow shows it, asks,
and lets the servers start; revoke takes that back. A server that changes has to be allowed again. A running gateway
notices within a second. Nothing is started here. Servers of a config module start with it and are not listed.

  --config FILE    as for keyhole serve
  --all            all servers
  --yes HASH       allow without a terminal exactly what was listed under this hash
  --json           the list as JSON
  -h, --help`;

const ALL = "--all";

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readOptions(args);
  if (values.help) return console.log(USAGE);
  const [first = "", second, ...more] = positionals;
  const action = first === "allow" || first === "revoke" ? first : undefined;
  const target = values.all ? ALL : second;
  if (more.length > 0 || (!action && second !== undefined)) throw invalid("too many arguments");
  if (action && target === undefined) throw invalid(`${action} needs the label of a server`);
  const { guarded, problems } = await findServers(values.config ?? (action ? undefined : positionals[0]));
  for (const reason of problems) console.error(toVisibleLine(reason));
  const programs = guarded.map((source) => source.program());
  const consents = openConsents();
  if (!action) return list(programs, consents, values.json);
  const chosen = choose(programs, target ?? ALL);
  if (action === "revoke") return console.log(`Revoked: ${await consents.revoke(chosen)}.`);
  await allowServers(chosen, consents, values.yes);
}

function list(programs: readonly ServerProgram[], consents: Consents, json: boolean): void {
  if (json) {
    const rows = programs.map((one) => toJson(one, consents));
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  for (const program of programs) {
    const state = consents.isGiven(program) ? "allowed" : "waits for consent";
    console.log([`${toVisibleLine(program.label)}  ${state}`, ...showProgram(program)].join("\n  "));
  }
  const waiting = programs.filter((program) => !consents.isGiven(program));
  console.log(`${programs.length} servers, ${waiting.length} of them wait for consent.`);
}

/** The same lines as in the list, because values of variables and headers may be secret. */
function toJson(program: ServerProgram, consents: Consents) {
  const { label, hash } = program;
  return { label, isAllowed: consents.isGiven(program), hash, shown: showProgram(program) };
}

/** Shows what servers run, asks, and lets them start. */
export async function allowServers(
  chosen: readonly ServerProgram[],
  consents: Consents,
  yes?: string,
): Promise<void> {
  const waiting = chosen.filter((program) => !consents.isGiven(program));
  if (waiting.length === 0) return console.log("Nothing waits for consent.");
  for (const program of waiting) {
    console.log([toVisibleLine(program.label), ...showProgram(program)].join("\n  "));
  }
  const hash = contentHash(waiting.map((program) => [program.label, program.hash]));
  console.log(`Hash: ${shortHash(hash)}`);
  const question = waiting.length === 1 ? "Let it start?" : `Let these ${waiting.length} servers start?`;
  const agreed = await confirm({
    operation: "servers",
    action: "Letting a server start",
    question,
    hash,
    yes,
  });
  if (!agreed) {
    process.exitCode = 1;
    return console.log("Nothing is allowed.");
  }
  await consents.give(waiting);
  console.log(`Allowed: ${waiting.length}.`);
}

function choose(programs: readonly ServerProgram[], target: string): readonly ServerProgram[] {
  const chosen = programs.filter(({ label }) => target === ALL || label === target);
  if (chosen.length > 0 || target === ALL) return chosen;
  const near = nearest(
    target,
    programs.map(({ label }) => label),
  );
  const hint = near.length === 0 ? "keyhole servers lists all" : `nearest: ${near.join(", ")}`;
  throw invalid(toVisibleLine(`server ${target} not found; ${hint}`));
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("servers", args, {
    config: TEXT,
    all: FLAG,
    yes: TEXT,
    json: FLAG,
  });
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "servers", reason });
}
