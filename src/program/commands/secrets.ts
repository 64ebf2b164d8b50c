import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { secretNamesIn } from "../../sources/mcp/config/to-launch.ts";
import { openConfig } from "../open/open-config.ts";
import { openSecrets, SECRET_NAME } from "../open/secrets.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import { defineCommand, invalid, notFound } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

const PLACES = { keychain: "the system's keychain", file: "a file that only you can read" } as const;

export const secrets = defineCommand({
  name: "secrets",
  page: "configuration.md#servers",
  words: { "": "", set: "NAME", remove: "NAME", list: "" },
  about: `Keeps values that configs name as \${secret:NAME}, \${keychain:NAME} or \${input:NAME}: in the system's
    keychain (secret-tool on Linux, security on macOS), or without one in a file that only you can read. Lists the names
    of secrets, where they are, those that servers need and which servers need them; never a value. set asks for the
    value in the terminal without showing it, or reads it from stdin. A server gets a new value when it starts next.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async ({ action, words: [name = ""], config, json }) => {
    if (action === "" || action === "list") return list(config, json);
    if (!SECRET_NAME.test(name))
      throw invalid("secrets", `${action} needs a name of letters, digits, dots, hyphens and underscores`);
    await (action === "set" ? set(name) : remove(name));
  },
});

async function set(name: string): Promise<void> {
  const value = await readSecret(hasTerminal() ? `Value of ${name}: ` : undefined);
  if (value === "")
    throw invalid(
      "secrets",
      `the value is empty; type it in a terminal, or pipe it in: keyhole secrets set ${name} < FILE`,
    );
  const place = await openSecrets().set(name, value);
  console.log(`Set ${name} in ${PLACES[place]}. Use it as \${secret:${name}}.`);
}

async function remove(name: string): Promise<void> {
  const secrets = openSecrets();
  if (await secrets.remove(name)) return console.log(`Removed ${name}.`);
  throw notFound("secrets", ["secret", name], secrets.names(), "keyhole secrets lists all");
}

async function list(config: string | undefined, isJson: boolean): Promise<void> {
  const { servers } = await openConfig({ config, everyProfile: true });
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

const MAX_CHARS = 65_536;

/** Reads a value without showing it: after a question in the terminal, or all of stdin without its last line break. */
async function readSecret(question: string | undefined): Promise<string> {
  if (question === undefined) {
    let text = "";
    for await (const chunk of process.stdin.setEncoding("utf8")) {
      text += chunk;
      if (text.length > MAX_CHARS) break;
    }
    return text.replace(/\r?\n$/, "").slice(0, MAX_CHARS);
  }
  process.stderr.write(question);
  // The reader echoes into nothing.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await reader.question("");
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
}
