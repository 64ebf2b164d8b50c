import { problem } from "../schema/problem.ts";
import { SURFACES } from "../surfaces/surface-names.ts";
import { chooseSurface } from "./choose-surface.ts";
import { FLAG, readArgs, TEXT, TEXTS } from "./read-args.ts";
import { createSafeConsole } from "./safe-console.ts";

const USAGE = `Usage: keyhole serve [options]

  --config FILE    a JSON config: settings and servers, also as other MCP clients write them; or a module that
                   exports options of createGateway. Default: keyhole.config.ts or .js in this folder, and the
                   servers of your settings. Changes of servers are applied while serving
  --profile NAME   only the servers of this profile of the config
  --trust          start the servers that a JSON config names now, and accept their definitions without approval
  --surface NAME   ${SURFACES.join(", ")} (default: lanes)
  --shortcut NAME  list this route or op as a tool of its own, if the menu has room; may be repeated
  --learned-shortcuts N
                   also list the N tools that you use most; chosen once for each catalog
  --allow-write    let callers run tools that write
  --no-daemon      serve in this process, and share no servers with other clients
  --http           serve Streamable HTTP instead of stdio, with the console for your browser
  --host NAME      the address to listen on (default: 127.0.0.1, for this machine only)
  --allow-host NAME
                   a host name that clients may use, beside those of this machine; may be repeated
  --port NUMBER    default: any free port
  -h, --help

Over stdio, JSON configs are served by one daemon of yours, which starts with the first client and ends some minutes
after the last (keyhole daemon --help). KEYHOLE_NO_DAEMON=1 stands for --no-daemon.

HTTP needs a bearer token. KEYHOLE_TOKEN, or a generated one that is shown once, is your own; keyhole token add
makes one for each agent.`;

/** Serves in this process until the client leaves. The daemon serves most clients over stdio, before this is loaded. */
export async function run(args: readonly string[]): Promise<void> {
  const values = readOptions(args);
  if (values.help) return console.log(USAGE);
  // stdout carries the protocol only; tools and config may print anything.
  globalThis.console = createSafeConsole(process.stderr);
  const { config, profile, trust: trusted, "allow-write": allowWrite, host, port } = values;
  const { surface } = values;
  chooseSurface(surface, {});
  const allowHosts = values["allow-host"];
  const learnedShortcuts = toCount(values["learned-shortcuts"]);
  const { shortcut: shortcuts } = values;
  const options = { config, profile, surface, shortcuts, learnedShortcuts, trusted, allowWrite };
  const { serveHere } = await import("./serve-here.ts");
  await serveHere({ ...options, ...(values.http && { http: { host, port, allowHosts } }) });
}

function readOptions(args: readonly string[]) {
  return readArgs("serve", args, {
    config: TEXT,
    profile: TEXT,
    surface: TEXT,
    shortcut: TEXTS,
    "learned-shortcuts": TEXT,
    trust: FLAG,
    "allow-write": FLAG,
    "no-daemon": FLAG,
    http: FLAG,
    host: TEXT,
    "allow-host": TEXTS,
    port: TEXT,
  }).values;
}

/** @throws INVALID_INPUT if the text is not a whole number. */
function toCount(text = "0"): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw problem("INVALID_INPUT", {
    operation: "serve",
    reason: "--learned-shortcuts must be a whole number up to 999",
  });
}
