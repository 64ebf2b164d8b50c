import { networkInterfaces } from "node:os";
import { resolve } from "node:path";
import { openUrl } from "../../agent/chat/chat-servers.ts";
import { problem } from "../../base/problems/problem.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { daemonPaths } from "../daemon/daemon-paths.ts";
import { reachDaemon, spawnDaemon } from "../daemon/reach-daemon.ts";
import { requestConsoles } from "../daemon/run-daemon.ts";
import { configOfDaemon } from "../daemon/serve-by-daemon.ts";
import { defineCommand, invalid } from "../terminal/define-command.ts";
import { CONFIG } from "../terminal/shared-options.ts";

const LAN = "lan";
/** Values of `--host` that stand for the address of this machine in its network. */
const NETWORK = [LAN, "0.0.0.0", "::"];

const consoleCommand = defineCommand({
  name: "console",
  page: "console.md",
  about: `Prints a link to the console of each config that the daemon serves, for your browser. A link works once. While no
    client is served, serves the config for as long as this runs.`,
  options: {
    config: CONFIG,
    open: { help: "open the link in the browser" },
    host: {
      takes: "ADDRESS",
      help: `another address of this machine to open the console at, such as ${LAN} for a phone in the same network: its
        link is shown as a QR code too (default: 127.0.0.1, for this machine only)`,
    },
  },
  run: async ({ config, host, open }) => {
    const address = host === undefined ? undefined : toAddress(host);
    let consoles = (await requestConsoles(address)) ?? [];
    const isHeld = consoles.length === 0;
    if (isHeld) {
      await startServing(config);
      consoles = (await requestConsoles(address)) ?? [];
    }
    for (const { config: path, profile, link } of consoles) {
      console.log(`${[path, profile].filter(Boolean).join(", profile ")}, opens once: ${link}`);
      if (address !== undefined) await tellPhone(link);
      if (open && !(await openUrl(new URL(link)))) console.log("The browser could not be opened.");
    }
    if (isHeld) await untilStopped();
  },
});

export { consoleCommand as console };

async function tellPhone(link: string): Promise<void> {
  const { renderUnicodeCompact } = await import("uqr");
  console.log(
    `${renderUnicodeCompact(link)}\nAnybody in the network can read what is sent: use one that you trust.`,
  );
}

/** @throws INVALID_INPUT if the machine is in no network */
function toAddress(host: string): string {
  if (!NETWORK.includes(host)) return host;
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  if (found) return found.address;
  throw invalid("console", "this machine has no address in a network; --host ADDRESS names one");
}

/** Makes the daemon serve a config, as a client does, until this process ends. @throws NO_SERVERS, DAEMON_FAILED */
async function startServing(named: string | undefined): Promise<void> {
  const config = configOfDaemon(named);
  if (config === undefined) throw problem("NO_SERVERS");
  const paths = daemonPaths();
  const rights = { shortcut: [], trust: false, allowWrite: false };
  const serve = { config: resolve(config), cwd: process.cwd(), env: process.env, ...rights };
  const start = async () => spawnDaemon(paths);
  const { socket, notes } = await reachDaemon({ paths, version: PROGRAM_VERSION, serve, start });
  for (const note of notes) console.error(note);
  socket.on("error", () => {});
  socket.once("close", () => process.exit(0));
  socket.resume();
}

async function untilStopped(): Promise<void> {
  console.log("No client is served now: the console is there until you stop this with Ctrl-C.");
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop());
  await promise;
  process.exit(0);
}
