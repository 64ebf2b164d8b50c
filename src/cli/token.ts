import { type AgentToken, principalOf } from "../access/agent-tokens.ts";
import { problem } from "../schema/problem.ts";
import { contentHash } from "../util/content-hash.ts";
import { nearest } from "../util/nearest.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { recordDecisions } from "./open-audit.ts";
import { openTokens } from "./open-tokens.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { readExpiry } from "./read-expiry.ts";

const USAGE = `Usage: keyhole token add NAME [--scopes LIST] [--allow-write] [--expires TIME]
       keyhole token list [--json]
       keyhole token revoke NAME

Makes a token for one agent, which calls a gateway on HTTP with it. Each token is a principal of its own: it sees only
entries whose scopes it has, and the audit log names it. The token is shown once; only its hash is kept. Gateways that
run notice new and revoked tokens at once.

  --scopes LIST    scopes of the agent, separated by commas
  --allow-write    let the agent run tools that write
  --expires TIME   a time from now, such as 12h, 30d or 8w, or a date, such as 2027-01-31 (default: never)
  --json
  -h, --help`;

/** Names become part of principals and file names, so they are plain. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readOptions(args);
  if (values.help) return console.log(USAGE);
  const [action, name, ...more] = positionals;
  if (more.length > 0) throw invalid("too many arguments");
  if (action === undefined || action === "list") return list(values.json);
  if (action !== "add" && action !== "revoke") {
    const [near] = nearest(action, ["add", "list", "revoke"]);
    throw invalid(
      `${toVisibleLine(action)} is not known; ${near ? `did you mean ${near}?` : "use add, list or revoke"}`,
    );
  }
  if (name === undefined) throw invalid(`${action} needs the name of an agent`);
  if (action === "revoke") return revoke(name);
  await add(name, values);
}

async function add(
  name: string,
  { scopes = "", expires, json, "allow-write": allowWrite }: ReturnType<typeof readOptions>["values"],
): Promise<void> {
  if (!NAME.test(name)) throw invalid("a name has letters, digits, dots, hyphens and underscores");
  const expiresAt = expires === undefined ? undefined : readExpiry(expires, Date.now());
  if (expires !== undefined && expiresAt === undefined)
    throw invalid("--expires is a time from now, such as 30d, or a date to come, such as 2027-01-31");
  const wanted = {
    name,
    scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== ""),
    allowWrite,
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const token = await openTokens().add(wanted);
  if (token === undefined) throw invalid(`the token ${name} exists; keyhole token revoke ${name} revokes it`);
  await recordDecisions("allowed", "token", [{ name, digest: contentHash(principalOf(wanted)) }]);
  if (json) return console.log(JSON.stringify({ ...wanted, token }, null, 2));
  console.log(`Token of ${name}, shown once: ${token}\n${describe({ ...wanted, createdAt: Date.now() })}`);
}

function list(isJson: boolean): void {
  const tokens = openTokens().list();
  const width = Math.max(0, ...tokens.map(({ name }) => name.length));
  const lines = tokens.map((token) => `${token.name.padEnd(width)}  ${describe(token)}`);
  if (isJson) console.log(JSON.stringify(tokens, null, 2));
  else console.log(lines.join("\n") || "No tokens. Make one: keyhole token add NAME");
}

async function revoke(name: string): Promise<void> {
  const tokens = openTokens();
  const found = tokens.list().find((token) => token.name === name);
  if (!found || !(await tokens.revoke(name))) {
    const names = tokens.list().map((token) => token.name);
    const [near] = nearest(name, names);
    throw invalid(
      `token ${toVisibleLine(name)} not found; ${near ? `nearest: ${near}` : "keyhole token list shows all"}`,
    );
  }
  await recordDecisions("revoked", "token", [{ name, digest: contentHash(principalOf(found)) }]);
  console.log(`Revoked: ${name}.`);
}

function describe({ scopes, allowWrite, expiresAt }: AgentToken): string {
  const end =
    expiresAt === undefined
      ? "never expires"
      : `${expiresAt <= Date.now() ? "expired" : "expires"} ${new Date(expiresAt).toISOString()}`;
  const may = allowWrite ? "reads and writes" : "only reads";
  return toVisibleLine(
    `${may}, ${scopes.length === 0 ? "no scopes" : `scopes: ${scopes.join(" ")}`}, ${end}`,
  );
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("token", args, {
    scopes: TEXT,
    "allow-write": FLAG,
    expires: TEXT,
    json: FLAG,
  });
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "token", reason });
}
