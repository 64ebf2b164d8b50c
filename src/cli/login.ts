import { cleanText } from "../util/clean-text.ts";
import { findServer, readServerArgs } from "./find-server.ts";
import { openUrl } from "./open-url.ts";

const USAGE = `Usage: keyhole login LABEL [options]

Logs in to an upstream server. Prints the address to open, and waits for the login to finish.

  --config FILE      a module that exports sources (default: keyhole.config.ts or .js in this folder)
  --open             open the address in the browser
  --timeout SECONDS  how long to wait (default: 300)
  --help`;

/** Keeps the login in the state folder, where a running gateway finds it. */
export async function run(args: readonly string[]): Promise<void> {
  const given = readServerArgs("login", args);
  if (given.help) return console.log(USAGE);
  const server = await findServer("login", given);
  const wanted = await server.logIn({
    ...(given.timeout !== undefined && { timeoutMs: Number(given.timeout) * 1_000 }),
    onUrl: async (url) => {
      console.log(`Open this address to log in:\n\n  ${cleanText(url.href)}\n`);
      if (given.open && !(await openUrl(url))) console.log("The browser could not be opened.");
    },
  });
  console.log(wanted ? `Logged in to ${given.label}.` : `${given.label} needs no login: ${stateOf(server)}`);
  process.exit(wanted || !server.diagnostics().status ? 0 : 1);
}

function stateOf(server: Awaited<ReturnType<typeof findServer>>): string {
  return server.diagnostics().status?.reason ?? "it can be used without one.";
}
