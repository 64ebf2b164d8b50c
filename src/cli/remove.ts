import { loadSettings } from "../config/load-settings.ts";
import { readSettingsFile } from "../config/read-settings-file.ts";
import { saveSetting } from "../config/save-setting.ts";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { readWordsAndArgs } from "./read-args.ts";
import { ownConfig, thisMachine } from "./this-machine.ts";

const USAGE = `Usage: keyhole remove NAME

Removes a server from Keyhole's own config. Gateways that run notice it.

  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("remove", args, {});
  if (values.help) return console.log(USAGE);
  const [name = "", ...more] = positionals;
  const { home } = thisMachine();
  const { mcpServers } = (await loadSettings({ home, project: home })).settings;
  if (more.length > 0 || !Object.hasOwn(mcpServers, name)) {
    const [near] = nearest(name, Object.keys(mcpServers));
    const hint = near === undefined ? "keyhole list shows all" : `nearest: ${near}`;
    throw problem("INVALID_INPUT", { operation: "remove", reason: `server ${name} not found; ${hint}` });
  }
  const read = await readSettingsFile(ownConfig());
  const isOther = read.state === "read" && Object.hasOwn(read.written.servers ?? {}, name);
  await saveSetting(`${isOther ? "servers" : "mcpServers"}.${name}`, undefined, { file: ownConfig() });
  console.log(`Removed ${name}.`);
}
