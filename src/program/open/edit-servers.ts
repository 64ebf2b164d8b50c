import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { field, isPlainObject } from "../../base/util/plain-object.ts";
import type { AskWord, ServerChange } from "../../faces/http/endpoints/api-types.ts";
import type { ServerEditor } from "../../faces/http/endpoints/console-parts.ts";
import { isSwitchedOff } from "../../sources/mcp/config/server-config.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import { checkServer } from "../../sources/servers/server-kinds.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { saveSetting } from "./save-setting.ts";

/** Changes servers in a JSON config, as a person at the console wants it. Gateways that run follow the file. */
export function createServerEditor(file: string): ServerEditor {
  async function read() {
    const settings = await readSettingsFile(file);
    const { mcpServers = {} } = settings.state === "read" ? settings.value : {};
    const others = settings.state === "read" ? settings.written.servers : undefined;
    const servers: Readonly<Record<string, unknown>> = mcpServers;
    return { servers, isOther: (label: string) => isPlainObject(others) && Object.hasOwn(others, label) };
  }

  async function change(label: string, { add, remove, disabled, hide, ask }: ServerChange): Promise<void> {
    const { servers, isOther } = await read();
    const path = `${isOther(label) ? "servers" : "mcpServers"}.${label}`;
    const save = (name: string, value: Parameters<typeof saveSetting>[1]) =>
      saveSetting(`${path}${name}`, value, { file });
    if (add !== undefined) {
      if (Object.hasOwn(servers, label)) throw wrong(`the server ${label} exists`);
      const config = toConfig(add);
      if (label !== toLabel(label))
        throw wrong("a name has letters, digits, hyphens and underscores, and begins with a letter");
      checkServer(label, config);
      return save("", config);
    }
    const server = servers[label];
    if (!isPlainObject(server)) throw wrong(`${file} has no server ${label}`);
    if (remove) return save("", undefined);
    if (disabled !== undefined) {
      if (field(server, "enabled") !== undefined) await save(".enabled", undefined);
      await save(".disabled", disabled || undefined);
    }
    if (hide) {
      const others = hiddenOf(server).filter((tool) => tool !== hide.tool);
      await save(".excludeTools", hide.hidden ? [...others, hide.tool] : others);
    }
    if (ask) {
      const { [ask.tool]: _, ...others } = asksOf(server);
      await save(".askTools", ask.when ? { ...others, [ask.tool]: ask.when } : others);
    }
  }

  return {
    rulesOf: async (label) => {
      const server = (await read()).servers[label];
      return isPlainObject(server) ? { file, hidden: hiddenOf(server), ask: asksOf(server) } : undefined;
    },
    off: async () => {
      const { servers } = await read();
      return Object.keys(servers).filter((label) => isSwitchedOff(servers[label]));
    },
    change,
  };
}

/** A command line with words between spaces, or an address. */
function toConfig(text: string): Record<string, Json> {
  if (/^https?:\/\//i.test(text.trim())) return { url: text.trim() };
  if (/["'\\$`|;&<>]/.test(text))
    throw wrong("quotes and variables need keyhole add NAME -- COMMAND in a terminal");
  const [command = "", ...args] = text.trim().split(/\s+/);
  if (command === "") throw wrong("a server needs a command or an address");
  return { command, args };
}

function hiddenOf(server: unknown): readonly string[] {
  const list = field(server, "excludeTools");
  return Array.isArray(list) ? list.map(String) : [];
}

function asksOf(server: unknown): Readonly<Record<string, AskWord>> {
  const asks = field(server, "askTools");
  return isPlainObject(asks) ? (asks as Record<string, AskWord>) : {};
}

function wrong(reason: string) {
  return problem("INVALID_INPUT", { operation: "The change", reason });
}
