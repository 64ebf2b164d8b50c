import { CLIENTS } from "../clients/clients.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, COUNT_MOST, JSON_OUTPUT } from "../terminal/shared-options.ts";

/** `keyhole` without a command. Its help is that of the program. */
export const FIRST_LOOK = defineCommand({
  name: "",
  summary: "Find the servers of your MCP clients and their cost, and offer to connect them.",
  options: {
    yes: { help: "start the servers to count their tokens" },
    "dry-run": { help: "show what connecting would change" },
    json: JSON_OUTPUT,
  },
  run: async (input) => (await import("../commands/first-look.ts")).firstLook(input),
});

const connect = defineCommand({
  name: "connect",
  summary: "Move the servers of an MCP client behind Keyhole, and back.",
  page: "clients.md",
  words: "CLIENT",
  choices: CLIENTS.map(({ name }) => name),
  about: `Moves the servers of a client into Keyhole's own config and puts Keyhole in their place. Shows every changed
    line first, asks, and keeps a backup. --undo restores the client's config byte for byte; if it has changed since,
    only Keyhole's part is undone.`,
  options: {
    undo: { help: "give the client its servers back" },
    projects: { help: "also move the servers of this folder and of Claude Code's projects" },
    "read-only": { help: "let the client only read through Keyhole" },
    "dry-run": { help: "show the change, write nothing" },
    yes: { help: "do not ask" },
  },
  run: async (input) => (await import("../commands/connect.ts")).connectOrUndo(input),
});

const status = defineCommand({
  name: "status",
  summary: "Show clients, servers and their cost at a glance.",
  about: `Shows everything at a glance: clients that are connected, the daemon that serves them, servers with their
    state, tools and tokens, and tokens of agents. Starts only servers that you have allowed, and only if their listing
    is older than a day.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => (await import("../commands/status.ts")).showStatus(input),
});

const doctor = defineCommand({
  name: "doctor",
  summary: "Find what is wrong, with the fix.",
  about: `Finds what is wrong, and says for each thing the cause and the fix: folders and files of Keyhole, the config,
    the configs of MCP clients, and every server. Starts only servers that you have allowed, and changes nothing.`,
  options: { config: CONFIG, "no-start": { help: "start no server" }, json: JSON_OUTPUT },
  notes: "Exits with 1 if there is a problem; warnings alone exit with 0.",
  run: async (input) => (await import("../commands/doctor.ts")).showFindings(input),
});

const list = defineCommand({
  name: "list",
  summary: "List servers with their state, tools and tokens.",
  page: "clients.md",
  about: `Lists the servers of the config and of the settings: their state, tools and tokens. Starts only servers that
    a person has allowed, and only if their listing is older than a day.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => (await import("../commands/status.ts")).listServers(input),
});

const add = defineCommand({
  name: "add",
  summary: "Add a server to Keyhole's own config.",
  page: "clients.md",
  words: "NAME [URL]",
  takesCommand: true,
  forms: ["NAME [--env NAME=VALUE]... -- COMMAND [ARGS]", 'NAME URL [--header "NAME: VALUE"]...'],
  about: `Adds a server to Keyhole's own config. In a terminal, asks whether it may start and shows what it offers for
    approval; otherwise keyhole servers allow NAME and keyhole approve NAME do that.`,
  options: {
    env: { takes: "NAME=VALUE", repeats: true, help: `a variable of the program; VALUE may be \${NAME}` },
    header: { takes: '"NAME: VALUE"', repeats: true, help: "a header of every request" },
  },
  run: async (input) => (await import("../commands/manage-servers.ts")).addServer(input),
});

const remove = defineCommand({
  name: "remove",
  summary: "Remove a server from Keyhole's own config.",
  page: "clients.md",
  words: "NAME",
  about: "Removes a server from Keyhole's own config. Gateways that run notice it.",
  run: async (input) => (await import("../commands/manage-servers.ts")).removeServer(input),
});

const login = defineCommand({
  name: "login",
  summary: "Log in to an upstream server.",
  page: "upstreams.md",
  words: "LABEL",
  about: "Logs in to an upstream server. Prints the address to open, and waits for the login to finish.",
  options: {
    config: CONFIG,
    open: { help: "open the address in the browser" },
    timeout: { takes: "SECONDS", most: COUNT_MOST, help: "how long to wait (default: 300)" },
  },
  run: async (input) => (await import("../commands/manage-servers.ts")).logIn(input),
});

const logout = defineCommand({
  name: "logout",
  summary: "Delete the login to an upstream server.",
  page: "upstreams.md",
  words: "LABEL",
  about: "Deletes the login to an upstream server.",
  options: { config: CONFIG },
  run: async (input) => (await import("../commands/manage-servers.ts")).logOut(input),
});

const completion = defineCommand({
  name: "completion",
  summary: "Complete commands in your shell.",
  words: "SHELL",
  choices: ["bash", "zsh", "fish", "pwsh"],
  about: `Prints a script that completes commands, their words and options.

  bash   eval "$(keyhole completion bash)"                          in ~/.bashrc
  zsh    eval "$(keyhole completion zsh)"                           in ~/.zshrc
  fish   keyhole completion fish > ~/.config/fish/completions/keyhole.fish
  pwsh   keyhole completion pwsh | Out-String | Invoke-Expression   in $PROFILE`,
  run: async (input, { commands }) =>
    (await import("../commands/completion.ts")).printCompletion(input, await commands()),
});

export const SET_UP = [connect, status, doctor, list, add, remove, login, logout, completion];
