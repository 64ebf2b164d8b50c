import { toVisibleLine } from "../util/visible-text.ts";
import { measureServers, type ServerCost } from "./measure-servers.ts";
import { openConsents } from "./open-consents.ts";
import { FLAG, readArgs, TEXT } from "./read-args.ts";
import { costLines, savingLines } from "./show-costs.ts";
import { findServers } from "./survey-servers.ts";

const USAGE = `Usage: keyhole list [--config FILE] [--json]

Lists the servers of the config and of the settings: their state, tools and tokens. Starts only servers that a person
has allowed, and only if their listing is older than a day.

  --config FILE    as for keyhole serve
  --json
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = readArgs("list", args, {
    config: TEXT,
    json: FLAG,
  });
  if (values.help) return console.log(USAGE);
  const measured = await readServerStates(values.config);
  const { servers } = measured;
  if (values.json) return console.log(JSON.stringify(measured, null, 2));
  if (servers.length === 0) return console.log("No servers. Add one: keyhole add NAME -- COMMAND ARGS");
  console.log([...costLines(servers), "", ...savingLines(measured)].join("\n"));
}

/** The servers of a config with their state and cost. */
export async function readServerStates(config: string | undefined) {
  const { guarded, pins, problems } = await findServers(config);
  for (const reason of problems) console.error(toVisibleLine(reason));
  const consents = openConsents();
  const allowed = new Set(guarded.filter((one) => consents.isGiven(one.program())).map(({ id }) => id));
  const measured = await measureServers(guarded, pins);
  return {
    ...measured,
    servers: measured.servers.map((cost) => ({ ...cost, state: stateOf(cost, allowed) })),
  };
}

function stateOf({ label, failure, waiting }: ServerCost, allowed: ReadonlySet<string>): string {
  if (!allowed.has(`mcp:${label}`)) return `waits for consent: keyhole servers allow ${label}`;
  if (failure !== undefined) return `down: ${failure}`;
  return waiting > 0 ? `${waiting} of them wait for approval: keyhole approve ${label}` : "ready";
}
