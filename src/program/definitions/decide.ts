import { defineCommand } from "../terminal/define-command.ts";
import { ALL, CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

const REFRESH = { help: "ask all servers, even those listed within a day" } as const;

const approve = defineCommand({
  name: "approve",
  summary: "Show and approve what servers offer.",
  page: "upstreams.md",
  words: "[SERVER]...",
  about: `Lists the tools that await your approval, by server: what the server runs, and for each definition its lane,
    its tokens, its description and what changed. Asks for each server in the terminal, and first whether a server that
    has not run yet may start. Without a terminal, --yes has to repeat the hash of exactly what was shown. keyhole pins
    diff ROUTE shows one definition whole.`,
  options: {
    config: CONFIG,
    refresh: REFRESH,
    yes: { takes: "HASH", help: "approve exactly what was shown under this hash" },
  },
  notes: "Exits with 1 if something was refused or a server could not be listed.",
  run: async (input) => (await import("../approvals/approve.ts")).approve(input),
});

const servers = defineCommand({
  name: "servers",
  summary: "Show what servers run, and let them start.",
  page: "security.md",
  words: { "": "[CONFIG]", allow: "[LABEL]", revoke: "[LABEL]" },
  forms: ["[CONFIG]", "allow LABEL|--all", "revoke LABEL|--all"],
  about: `Lists the servers of a JSON config and of the settings, and exactly what each runs or reaches. allow shows it,
    asks, and lets the servers start; revoke takes that back. A server that changes has to be allowed again. A running
    gateway notices within a second. Nothing is started here. Servers of a config module start with it and are not
    listed.`,
  options: {
    config: CONFIG,
    all: ALL,
    yes: { takes: "HASH", help: "allow without a terminal exactly what was listed under this hash" },
    json: JSON_OUTPUT,
  },
  run: async (input) => (await import("../approvals/servers.ts")).manageConsents(input),
});

const pins = defineCommand({
  name: "pins",
  summary: "Show and approve the definitions of upstream servers.",
  page: "upstreams.md",
  words: { "": "[CONFIG]", diff: "ROUTE", approve: "[SOURCE|ROUTE]", revoke: "[SOURCE|ROUTE]" },
  forms: ["[CONFIG]", "diff ROUTE", "approve SOURCE|ROUTE|--all", "revoke SOURCE|ROUTE|--all"],
  about: `Lists the definitions of upstream servers and whether each is approved, pending ones first. diff shows how a
    definition differs from the approved one. approve shows definitions, warns of those that try to steer a model, asks,
    and accepts them exactly as they are shown; revoke takes approvals back. A running gateway notices within a second.
    Servers that wait for a consent to start are not listed: keyhole servers shows what they run.`,
  options: {
    config: CONFIG,
    refresh: REFRESH,
    all: ALL,
    yes: { takes: "HASH", help: "approve without a terminal exactly what was listed under this hash" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if a server could not be listed.",
  run: async (input) => (await import("../approvals/pins.ts")).managePins(input),
});

const trust = defineCommand({
  name: "trust",
  summary: "Show what a folder would run, and trust it.",
  page: "security.md#folders",
  words: "[FOLDER]",
  about: `Shows what Keyhole would run, start and read to a model in a folder (default: this one), and asks whether you
    trust it. The trust holds for the folder's real path until something changes that can run.`,
  options: {
    end: { help: "end the trust in the folder" },
    yes: { takes: "HASH", help: "agree without a terminal to exactly what was listed under this hash" },
  },
  run: async (input) => (await import("../open/trust-folder.ts")).manageTrust(input),
});

const secrets = defineCommand({
  name: "secrets",
  summary: "Keep values that configs refer to by name.",
  page: "configuration.md#servers",
  words: { "": "", set: "NAME", remove: "NAME", list: "" },
  about: `Keeps values that configs name as \${secret:NAME}, \${keychain:NAME} or \${input:NAME}: in the system's
    keychain (secret-tool on Linux, security on macOS), or without one in a file that only you can read. Lists the names
    of secrets, where they are, those that servers need and which servers need them; never a value. set asks for the
    value in the terminal without showing it, or reads it from stdin. A server gets a new value when it starts next.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => (await import("../commands/secrets.ts")).manageSecrets(input),
});

const token = defineCommand({
  name: "token",
  summary: "Make, list and revoke tokens of agents that call over HTTP.",
  page: "mcp.md",
  words: { "": "", add: "NAME", list: "", revoke: "NAME" },
  about: `Makes a token for one agent, which calls a gateway on HTTP with it. Each token is a principal of its own: it
    sees only entries whose scopes it has, and the audit log names it. The token is shown once; only its hash is kept.
    Gateways that run notice new and revoked tokens at once.`,
  options: {
    scopes: { takes: "LIST", default: "", help: "scopes of the agent, separated by commas" },
    "allow-write": { help: "let the agent run tools that write" },
    expires: {
      takes: "TIME",
      help: "a time from now, such as 12h, 30d or 8w, or a date, such as 2027-01-31 (default: never)",
    },
    json: JSON_OUTPUT,
  },
  run: async (input) => (await import("../commands/token.ts")).manageTokens(input),
});

export const DECIDE = [approve, servers, pins, trust, secrets, token];
