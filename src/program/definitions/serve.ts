import { SERVE_OPTIONS } from "../daemon/serve-options.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { COUNT_MOST, FOLLOW, JSON_OUTPUT } from "../terminal/shared-options.ts";

const serve = defineCommand({
  name: "serve",
  summary: "Serve a catalog to MCP clients, over stdio or HTTP.",
  page: "mcp.md",
  options: SERVE_OPTIONS,
  notes: `Over stdio, JSON configs are served by one daemon of yours, which starts with the first client and ends some
    minutes after the last (keyhole daemon --help). KEYHOLE_NO_DAEMON=1 stands for --no-daemon.

    HTTP needs a bearer token. KEYHOLE_TOKEN, or a generated one that is shown once, is your own; keyhole token add
    makes one for each agent.`,
  run: async (input) => (await import("../daemon/serve-here.ts")).serveHere(input),
});

const daemon = defineCommand({
  name: "daemon",
  summary: "Show or stop the process that serves all clients.",
  page: "daemon.md",
  words: { "": "", status: "", stop: "", run: "" },
  forms: ["status|stop|run"],
  about: `  status   show the daemon that serves your clients
  stop     end it when its calls are done; the next client starts it again
  run      run it here, as keyhole serve does in the background`,
  options: { json: JSON_OUTPUT },
  notes: "KEYHOLE_DAEMON_IDLE: seconds that the daemon, and servers that nobody uses, stay (default: 600).",
  run: async (input, { usage }) => (await import("../commands/daemon.ts")).manageDaemon({ ...input, usage }),
});

const logs = defineCommand({
  name: "logs",
  summary: "Show the log of the daemon.",
  page: "daemon.md",
  words: "[SERVER]",
  about: `Shows the newest lines of the log of the daemon that serves your clients: servers that start, fail and
    restart, and calls that fail. With SERVER, only lines that name it. A level of more detail: LOG_LEVEL=debug, or
    logging.level in the config. keyhole audit shows who called what.`,
  options: {
    number: { short: "n", takes: "NUMBER", most: COUNT_MOST, default: 50, help: "how many lines" },
    follow: FOLLOW,
  },
  run: async (input) => (await import("../commands/daemon.ts")).showLogs(input),
});

export const SERVE = [serve, daemon, logs];
