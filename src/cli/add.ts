import { loadSettings } from "../config/load-settings.ts";
import { saveSetting } from "../config/save-setting.ts";
import { problem } from "../schema/problem.ts";
import { readServerConfig } from "../sources/mcp/config/server-config.ts";
import { toLabel } from "../sources/mcp/from-mcp-config.ts";
import { hasTerminal } from "./confirm.ts";
import { readWordsAndArgs, TEXTS } from "./read-args.ts";
import { ownConfig, thisMachine } from "./this-machine.ts";

const USAGE = `Usage: keyhole add NAME [--env NAME=VALUE]... -- COMMAND [ARGS]
       keyhole add NAME URL [--header "NAME: VALUE"]...

Adds a server to Keyhole's own config. In a terminal, asks whether it may start and shows what it offers for approval;
otherwise keyhole servers allow NAME and keyhole approve NAME do that.

  --env NAME=VALUE        a variable of the program; VALUE may be \${NAME}
  --header "NAME: VALUE"  a header of every request
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  const [command, ...words] = end < 0 ? [] : args.slice(end + 1);
  const { values, positionals } = readWordsAndArgs("add", own, {
    env: TEXTS,
    header: TEXTS,
  });
  if (values.help) return console.log(USAGE);
  const [name, url, ...more] = positionals;
  if (name === undefined || name !== toLabel(name))
    throw invalid("the name needs letters, digits, hyphens and underscores, and begins with a letter");
  if (more.length > 0) throw invalid("too many arguments; a command stands after --");
  const config = {
    ...(command !== undefined && { command, args: words }),
    ...(url !== undefined && { url }),
    ...(values.env.length > 0 && { env: pairs(values.env, "=") }),
    ...(values.header.length > 0 && { headers: pairs(values.header, ":") }),
  };
  readServerConfig(name, config);
  const { home } = thisMachine();
  const { mcpServers } = (await loadSettings({ home, project: home })).settings;
  if (Object.hasOwn(mcpServers, name))
    throw invalid(`the server ${name} exists; keyhole remove ${name} removes it`);
  await saveSetting(`mcpServers.${name}`, config, { file: ownConfig() });
  console.log(`Added ${name}.`);
  if (!hasTerminal()) return console.log(`Let it start: keyhole servers allow ${name}`);
  const approve = await import("./approve.ts");
  await approve.run([name]);
}

function pairs(texts: readonly string[], mark: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at < 1) throw invalid(`each pair is written as NAME${mark}VALUE`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "add", reason });
}
