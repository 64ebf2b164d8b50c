import { toVisibleText } from "../util/visible-text.ts";
import { findServer, readServerArgs } from "./find-server.ts";
import { openUrl } from "./open-url.ts";

const USAGE = `Usage: keyhole login LABEL [options]

Logs in to an upstream server. Prints the address to open, and waits for the login to finish.

  --config FILE      as for keyhole serve
  --open             open the address in the browser
  --timeout SECONDS  how long to wait (default: 300)
  -h, --help`;

/** Keeps the login in the state folder, where a running gateway finds it. */
export async function run(args: readonly string[]): Promise<void> {
  const given = readServerArgs("login", args);
  if (given.help) return console.log(USAGE);
  const server = await findServer("login", given);
  const wanted = await server.logIn({
    ...(given.timeout !== undefined && { timeoutMs: Number(given.timeout) * 1_000 }),
    onUrl: async (url) => {
      console.log(`Open this address to log in:\n\n  ${toVisibleText(url.href)}\n`);
      if (given.open && !(await openUrl(url))) console.log("The browser could not be opened.");
    },
  });
  const { status } = server.diagnostics();
  if (wanted) console.log(`Logged in to ${given.label}.`);
  else if (status) console.log(`Not logged in to ${given.label}: ${status.reason}.`);
  else console.log(`${given.label} needs no login: it can be used without one.`);
  process.exit(wanted || !status ? 0 : 1);
}
