import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { AGENT_NAME, addAgentKey, readExpiry, revokeAgentKey } from "../open/agent-keys.ts";
import type { AgentToken } from "../open/agent-tokens.ts";
import { openStateOf } from "../open/open-state.ts";
import { openTokens } from "../open/stores.ts";
import { type CommandInput, defineCommand, invalid, notFound } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

const OPTIONS = {
  scopes: { takes: "LIST", default: "", help: "scopes of the agent, separated by commas" },
  "allow-write": { help: "let the agent run tools that write" },
  profile: {
    takes: "NAME",
    help: "pin the agent to a profile of the config that is served: it gets nothing else, and nothing without it",
  },
  expires: {
    takes: "TIME",
    help: "a time from now, such as 12h, 30d or 8w, or a date, such as 2027-01-31 (default: never)",
  },
  config: CONFIG,
  json: JSON_OUTPUT,
} as const;

export const agents = defineCommand({
  name: "agents",
  page: "mcp.md",
  words: { "": "", add: "NAME", list: "", revoke: "NAME" },
  about: `Lists the agents that call Keyhole over HTTP, with their rights. add makes a key for one agent: it sees only
    tools whose scopes it has, and keyhole logs calls names it. The key is shown once; only its hash is kept. revoke
    takes it back. Gateways that run notice both at once.`,
  options: OPTIONS,
  run: async (input) => {
    const [name = ""] = input.words;
    if (input.action === "add") return add(name, input);
    if (input.action === "revoke") return revoke(name, input);
    await list(input);
  },
});

async function add(
  name: string,
  { scopes, expires, json, allowWrite, profile, config }: CommandInput<typeof OPTIONS>,
): Promise<void> {
  if (!AGENT_NAME.test(name))
    throw invalid("agents", "a name has letters, digits, dots, hyphens and underscores");
  const expiresAt = expires === undefined ? undefined : readExpiry(expires, Date.now());
  if (expires !== undefined && expiresAt === undefined)
    throw invalid(
      "agents",
      "--expires is a time from now, such as 30d, or a date to come, such as 2027-01-31",
    );
  const wanted = {
    name,
    scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== ""),
    allowWrite,
    ...(profile !== undefined && { profile }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const state = await openStateOf(config);
  const token = await addAgentKey(openTokens(state), wanted, { state });
  if (token === undefined)
    throw invalid("agents", `the agent ${name} exists; keyhole agents revoke ${name} takes its key back`);
  if (json) return console.log(JSON.stringify({ ...wanted, token }, null, 2));
  console.log(`Key of ${name}, shown once: ${token}\n${describe(wanted)}`);
}

async function list({ json, config }: CommandInput<typeof OPTIONS>): Promise<void> {
  const tokens = await openTokens(await openStateOf(config)).list();
  const width = Math.max(0, ...tokens.map(({ name }) => name.length));
  const lines = tokens.map((token) => `${token.name.padEnd(width)}  ${describe(token)}`);
  if (json) console.log(JSON.stringify(tokens, null, 2));
  else console.log(lines.join("\n") || "No agents. Make a key for one: keyhole agents add NAME");
}

async function revoke(name: string, { config }: CommandInput<typeof OPTIONS>): Promise<void> {
  const state = await openStateOf(config);
  const tokens = openTokens(state);
  if (!(await revokeAgentKey(tokens, name, { state }))) {
    const names = (await tokens.list()).map((token) => token.name);
    throw notFound("agents", ["agent", name], names, "keyhole agents lists all");
  }
  console.log(`Revoked: ${name}.`);
}

function describe({ scopes, allowWrite, profile, expiresAt }: Omit<AgentToken, "id" | "createdAt">): string {
  const end =
    expiresAt === undefined
      ? "never expires"
      : `${expiresAt <= Date.now() ? "expired" : "expires"} ${new Date(expiresAt).toISOString()}`;
  const may = allowWrite ? "reads and writes" : "only reads";
  return toVisibleLine(
    `${may}, ${profile === undefined ? "" : `profile ${profile}, `}${scopes.length === 0 ? "no scopes" : `scopes: ${scopes.join(" ")}`}, ${end}`,
  );
}
