import { SECRET_NAME } from "../access/secrets.ts";
import { problem } from "../schema/problem.ts";
import { secretNamesIn } from "../sources/mcp/config/expand-variables.ts";
import { nearest } from "../util/nearest.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { hasTerminal } from "./confirm.ts";
import { openConfig } from "./open-config.ts";
import { openSecrets } from "./open-secrets.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { readSecret } from "./read-secret.ts";

const USAGE = `Usage: keyhole secrets [--config FILE] [--json]
       keyhole secrets set NAME
       keyhole secrets remove NAME

Keeps values that configs name as \${secret:NAME}, \${keychain:NAME} or \${input:NAME}: in the system's keychain
(secret-tool on Linux, security on macOS), or without one in a file that only you can read. Lists the names of secrets,
where they are, those that servers need and who needs them; never a value. set asks for the value in the terminal without
showing it, or reads it from stdin. A server gets a new value when it starts next.

  --config FILE    as for keyhole serve
  --json
  -h, --help`;

const PLACES = { keychain: "the system's keychain", file: "a file that only you can read" } as const;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("secrets", args, { config: TEXT, json: FLAG });
  if (values.help) return console.log(USAGE);
  const [action = "list", name, ...more] = positionals;
  if (more.length > 0) throw invalid("too many arguments; the value is asked for, or read from stdin");
  if (action === "list") return list(values.config, values.json);
  if (action !== "set" && action !== "remove") {
    const [near] = nearest(action, ["set", "remove", "list"]);
    throw invalid(
      `${toVisibleLine(action)} is not known; ${near ? `did you mean ${near}?` : "use set or remove"}`,
    );
  }
  if (name === undefined || !SECRET_NAME.test(name))
    throw invalid(`${action} needs a name of letters, digits, dots, hyphens and underscores`);
  await (action === "set" ? set(name) : remove(name));
}

async function set(name: string): Promise<void> {
  const value = await readSecret(hasTerminal() ? `Value of ${name}: ` : undefined);
  if (value === "") throw invalid("the value is empty");
  const place = await openSecrets().set(name, value);
  console.log(`Set ${name} in ${PLACES[place]}. Use it as \${secret:${name}}.`);
}

async function remove(name: string): Promise<void> {
  const secrets = openSecrets();
  if (await secrets.remove(name)) return console.log(`Removed ${name}.`);
  const [near] = nearest(name, secrets.names());
  throw invalid(`secret ${name} not found; ${near ? `nearest: ${near}` : "keyhole secrets lists all"}`);
}

async function list(config: string | undefined, isJson: boolean): Promise<void> {
  const { servers } = await openConfig({ config });
  const needs = new Map<string, string[]>();
  for (const source of servers) {
    const { label, runs } = source.program();
    for (const name of secretNamesIn(runs)) needs.set(name, [...(needs.get(name) ?? []), label]);
  }
  const secrets = openSecrets();
  const set = secrets.names();
  const found = [...new Set([...set, ...needs.keys()])].sort().map((name) => ({
    name,
    set: set.includes(name),
    ...(set.includes(name) && { place: secrets.placeOf(name) }),
    servers: needs.get(name) ?? [],
  }));
  if (isJson) return console.log(JSON.stringify(found, null, 2));
  const lines = found.map(({ name, set: isSet, place, servers: users }) => {
    const used = users.length === 0 ? "used by no server" : `used by ${users.join(", ")}`;
    return toVisibleLine(
      `${name}  ${isSet ? `set in ${PLACES[place ?? "file"]}` : `missing: keyhole secrets set ${name}`}  ${used}`,
    );
  });
  console.log(lines.join("\n") || "No secrets. Set one: keyhole secrets set NAME");
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "secrets", reason });
}
