import { resolve } from "node:path";
import { openUrl } from "../../agent/chat/chat-servers.ts";
import { customProblem, isProblem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { type McpSource, toLabel } from "../../sources/mcp/mcp-source.ts";
import { checkServer } from "../../sources/servers/server-kinds.ts";
import { readServers, removeServer } from "../open/edit-servers.ts";
import { openConfig } from "../open/open-config.ts";
import { saveSetting } from "../open/save-setting.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { ownConfig } from "../open/user-folders.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import { defineCommand, invalid, notFound } from "../terminal/define-command.ts";
import { CONFIG, COUNT_MOST } from "../terminal/shared-options.ts";

export const add = defineCommand({
  name: "add",
  page: "clients.md",
  words: "NAME [URL]",
  takesCommand: true,
  forms: [
    "NAME [--env NAME=VALUE]... -- COMMAND [ARGS]",
    'NAME URL [--header "NAME: VALUE"]...',
    "NAME --library FOLDER [--scheme NAME]",
    "NAME --openapi FILE|URL",
  ],
  about: `Adds a server to Keyhole's own config: an MCP server, a folder of Markdown, or an API. In a terminal, asks whether it may start and shows what it offers for
    approval; otherwise keyhole approve NAME does that.`,
  options: {
    env: { takes: "NAME=VALUE", repeats: true, help: `a variable of the program; VALUE may be \${NAME}` },
    header: { takes: '"NAME: VALUE"', repeats: true, help: "a header of every request" },
    library: { takes: "FOLDER", help: "serve a folder of Markdown: prompts, fragments, rules and skills" },
    scheme: { takes: "NAME", help: "with --library: the scheme of its addresses" },
    openapi: { takes: "FILE", help: "serve the operations of an OpenAPI document, by its path or address" },
  },
  run: async ({ words: [name = "", url], command: [program, ...args], env, header, ...input }) => {
    const { library, scheme, openapi } = input;
    if (name !== toLabel(name))
      throw invalid(
        "add",
        "the name needs letters, digits, hyphens and underscores, and begins with a letter",
      );
    const config = {
      ...(program !== undefined && { command: program, args }),
      ...(url !== undefined && { url }),
      ...(library !== undefined && { library: resolve(library) }),
      ...(scheme !== undefined && { scheme }),
      ...(openapi !== undefined && {
        openapi: /^https?:/i.test(openapi) ? openapi : resolve(openapi),
      }),
      ...(env.length > 0 && { env: pairs(env, "=") }),
      ...(header.length > 0 && { headers: pairs(header, ":") }),
    };
    checkServer(name, config);
    const { servers, profiles } = await readServers(ownConfig());
    if (Object.hasOwn(servers, name))
      throw invalid("add", `the server ${name} exists; keyhole remove ${name} removes it`);
    await saveSetting(`mcpServers.${name}`, config, { file: ownConfig() });
    console.log(`Added ${name}.`);
    if (Object.keys(profiles).length > 0)
      console.log(`Give it to a connected client: keyhole connect CLIENT --with ${name}`);
    if (!hasTerminal()) return console.log(`Let it start: keyhole approve ${name}`);
    await (await import("../approvals/approve.ts")).approveServers([name]);
  },
});

export const remove = defineCommand({
  name: "remove",
  page: "clients.md",
  words: "NAME",
  about: "Removes a server from Keyhole's own config and its profiles. Gateways that run notice it.",
  run: async ({ words: [name = ""] }) => {
    const { servers } = await readServers(ownConfig());
    if (!Object.hasOwn(servers, name))
      throw notFound("remove", ["server", name], Object.keys(servers), "keyhole servers lists all");
    await removeServer(ownConfig(), name);
    console.log(`Removed ${name}.`);
  },
});

function pairs(texts: readonly string[], mark: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at < 1) throw invalid("add", `each pair is written as NAME${mark}VALUE`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

/** `keyhole login`: keeps the login in the state folder, where a running gateway finds it. */
export const login = defineCommand({
  name: "login",
  page: "upstreams.md",
  words: "NAME",
  about: "Logs in to a server. Prints the address to open, and waits for the login to finish.",
  options: {
    config: CONFIG,
    open: { help: "open the address in the browser" },
    timeout: { takes: "SECONDS", most: COUNT_MOST, help: "how long to wait (default: 300)" },
  },
  run: async ({ words: [label = ""], config, open, timeout }) => {
    const server = await findServer("login", label, config);
    const isNeeded = await server
      .logIn({
        ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
        onUrl: async (url) => {
          console.log(`Open this address to log in:\n\n  ${toVisibleText(url.href)}\n`);
          if (open && !(await openUrl(url))) console.log("The browser could not be opened.");
        },
      })
      .catch((error: unknown) => {
        if (!isProblem(error) || error.code !== "LOGIN_FAILED") throw error;
        const again = suggestCommand(["login", label], config);
        throw customProblem(error.code, error.message, `Correct the cause, then log in again: ${again}`);
      });
    const { status } = server.diagnostics();
    if (isNeeded) console.log(`Logged in to ${label}.`);
    else if (status) console.log(`Not logged in to ${label}: ${status.reason}.`);
    else console.log(`${label} needs no login: it can be used without one.`);
    process.exit(isNeeded || !status ? 0 : 1);
  },
});

export const logout = defineCommand({
  name: "logout",
  page: "upstreams.md",
  words: "NAME",
  about: "Deletes the login to a server.",
  options: { config: CONFIG },
  run: async ({ words: [label = ""], config }) => {
    const server = await findServer("logout", label, config);
    const wasLoggedIn = await server.logOut();
    console.log(wasLoggedIn ? `Logged out of ${label}.` : `Not logged in to ${label}.`);
  },
});

/**
 * Finds the config's server of that label. It shares its logins with `keyhole serve`.
 *
 * @throws INVALID_INPUT if there is none.
 */
async function findServer(command: string, label: string, config: string | undefined): Promise<McpSource> {
  const { sources } = (await openConfig({ config, everyProfile: true })).options;
  const servers = sources.filter((source): source is McpSource => "logIn" in source);
  const labels = servers.map((server) => server.label);
  const server = servers[labels.indexOf(label)];
  if (server) return server;
  const otherwise = `servers in the config: ${labels.join(", ") || "none"}`;
  throw notFound(command, ["server", label], labels, otherwise);
}
