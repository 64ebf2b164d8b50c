import { findServer, readServerArgs } from "./find-server.ts";

const USAGE = `Usage: keyhole logout LABEL [options]

Deletes the login to an upstream server.

  --config FILE    as for keyhole serve
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const given = readServerArgs("logout", args);
  if (given.help) return console.log(USAGE);
  const server = await findServer("logout", given);
  const had = await server.logOut();
  console.log(had ? `Logged out of ${given.label}.` : `Not logged in to ${given.label}.`);
}
