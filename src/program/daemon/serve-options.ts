import { SURFACES } from "../../core/surfaces/surface-names.ts";
import { type CommandInput, readCommandLine } from "../terminal/define-command.ts";
import { PROFILE } from "../terminal/shared-options.ts";

/** The flags of `keyhole serve`. The command and the relay read them by this table. */
export const SERVE_OPTIONS = {
  config: {
    takes: "FILE",
    help: `a JSON config: settings and servers, also as other MCP clients write them; or a module that exports options
      of createGateway. Default: keyhole.config.ts or .js in this folder, and the servers of your settings. Changes of
      servers are applied while serving`,
  },
  library: { takes: "DIR", help: "serve a folder of Markdown, and nothing else unless --config names it" },
  profile: PROFILE,
  trust: {
    help: "start the servers that a JSON config names now, and serve their tools without approval",
  },
  surface: { takes: "NAME", choices: SURFACES, help: "the tools that models see (default: lanes)" },
  shortcut: {
    takes: "NAME",
    repeats: true,
    help: "list this tool of a server beside Keyhole's own, if the menu has room",
  },
  "allow-write": { help: "let callers run tools that write" },
  stop: { help: "end the daemon when its calls are done; the next client starts it again" },
  daemon: { help: "run the daemon here, as keyhole serve does in the background" },
  "no-daemon": { help: "serve in this process, and share no servers with other clients" },
  http: { help: "serve Streamable HTTP instead of stdio, with the console for your browser" },
  host: { takes: "NAME", help: "the address to listen on (default: 127.0.0.1, for this machine only)" },
  "allow-host": {
    takes: "NAME",
    repeats: true,
    help: "a host name that clients may use, beside those of this machine",
  },
  port: { takes: "NUMBER", most: 65_535, help: "default: any free port" },
} as const;

export type ServeInput = CommandInput<typeof SERVE_OPTIONS>;

/** Reads the flags of `keyhole serve`. Undefined for mistakes and for `--help`. */
export function readServeFlags(args: readonly string[]): ServeInput | undefined {
  try {
    return readCommandLine({ name: "serve", options: SERVE_OPTIONS }, args);
  } catch {
    return undefined;
  }
}
