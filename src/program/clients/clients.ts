import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { field, fieldsOf, listOf } from "../../base/util/plain-object.ts";
import {
  type Client,
  type ClientListing,
  type ClientMachine,
  type ClientRuleFile,
  type ConfigLocation,
  folderOf,
  type Program,
} from "./client.ts";
import { CLINE, CODEX, CONTINUE, GEMINI, GOOSE, OPENCODE, STANDARD, ZED } from "./dialects.ts";
import type { FormatName } from "./formats/format.ts";
import {
  CLAUDE_RULES,
  CONTINUE_RULES,
  CURSOR_RULES,
  GEMINI_RULES,
  GOOSE_RULES,
  OPENCODE_RULES,
  QWEN_RULES,
  ZED_RULES,
} from "./rule-dialects.ts";
import { claudeSkills, codexSkills, GEMINI_SKILLS, opencodeSkills } from "./skill-dialects.ts";

/** The date of `lists` below: clients change their ways often. Cursor is as documented, the others were measured. */
export const LISTS_DATE = "November 2026";
const WHOLE: ClientListing = { shows: "definitions" };

/** The clients whose servers Keyhole finds and moves. */
export const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    places: ({ home, env, project }) => {
      const path = join(folderOf(env.CLAUDE_CONFIG_DIR, home), ".claude.json");
      return [
        user(path, ["mcpServers"]),
        inProject(path, ["projects", "*", "mcpServers"]),
        inProject(join(project, ".mcp.json"), ["mcpServers"]),
      ];
    },
    dialect: STANDARD,
    rules: {
      ...CLAUDE_RULES,
      files: (machine) => [
        user(join(managedFolder(machine.platform), "managed-settings.json"), []),
        user(join(claudeFolder(machine), "settings.json"), []),
        inProject(join(machine.project, ".claude", "settings.json"), []),
        inProject(join(machine.project, ".claude", "settings.local.json"), []),
      ],
    },
    skills: claudeSkills(claudeFolder),
    lists: [{ shows: "names", loads: 1 }],
    entry: (program) => ({ type: "stdio", ...plain(program) }),
    loaded: { alwaysLoad: true },
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    places: (machine) => [
      user(join(appFolder(machine), "Claude", "claude_desktop_config.json"), ["mcpServers"]),
    ],
    dialect: STANDARD,
    variables: "none",
    entry: plain,
  },
  {
    name: "vscode",
    title: "VS Code",
    places: (machine) => [
      user(join(appFolder(machine), "Code", "User", "mcp.json"), ["servers"]),
      inProject(join(machine.project, ".vscode", "mcp.json"), ["servers"]),
    ],
    dialect: STANDARD,
    entry: (program) => ({ type: "stdio", ...plain(program) }),
  },
  {
    name: "cursor",
    title: "Cursor",
    places: ({ home, project }) => [
      user(join(home, ".cursor", "mcp.json"), ["mcpServers"]),
      inProject(join(project, ".cursor", "mcp.json"), ["mcpServers"]),
    ],
    dialect: STANDARD,
    rules: {
      ...CURSOR_RULES,
      files: ({ home, project }) => [
        user(join(home, ".cursor", "permissions.json"), []),
        user(join(home, ".cursor", "cli-config.json"), []),
        inProject(join(project, ".cursor", "permissions.json"), []),
        inProject(join(project, ".cursor", "cli.json"), []),
      ],
    },
    lists: [{ shows: "names", loads: 1 }],
    entry: plain,
  },
  {
    name: "codex",
    title: "Codex",
    places: (machine) => [
      user(join(codexFolder(machine), "config.toml"), ["mcp_servers"], "toml"),
      inProject(join(machine.project, ".codex", "config.toml"), ["mcp_servers"], "toml"),
    ],
    dialect: CODEX,
    skills: codexSkills(codexFolder),
    variables: (names) => ({ env_vars: names }),
    lists: [
      { when: "gpt-5.5", shows: "search", loads: 4 },
      { when: "other models", ...WHOLE },
    ],
    // Codex waits for a server that is required.
    entry: (program) => ({ ...plain(program), required: true }),
    loaded: { omit_tools_from: ["deferred"] },
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    places: ({ home, project }) => [
      user(join(home, ".gemini", "settings.json"), ["mcpServers"]),
      inProject(join(project, ".gemini", "settings.json"), ["mcpServers"]),
    ],
    dialect: GEMINI,
    rules: { ...GEMINI_RULES, files: (machine) => settingsAndPolicies(machine, ".gemini") },
    skills: GEMINI_SKILLS,
    variables: (names) => ({ env: Object.fromEntries(names.map((name) => [name, `$${name}`])) }),
    lists: [WHOLE],
    isOff: isExcluded,
    entry: plain,
  },
  {
    name: "qwen",
    title: "Qwen Code",
    places: ({ home, project }) => [
      user(join(home, ".qwen", "settings.json"), ["mcpServers"]),
      inProject(join(project, ".qwen", "settings.json"), ["mcpServers"]),
    ],
    dialect: GEMINI,
    rules: { ...QWEN_RULES, files: (machine) => settingsAndPolicies(machine, ".qwen") },
    lists: [{ shows: "summaries", loads: 1 }],
    isOff: isExcluded,
    entry: plain,
    loaded: { alwaysLoadTools: true },
  },
  {
    name: "opencode",
    title: "opencode",
    places: opencodeFiles,
    dialect: OPENCODE,
    rules: { ...OPENCODE_RULES, files: opencodeFiles },
    skills: opencodeSkills(opencodeFolder),
    lists: [WHOLE],
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
  },
  {
    name: "copilot",
    title: "Copilot CLI",
    places: ({ home }) => [user(join(home, ".copilot", "mcp-config.json"), ["mcpServers"])],
    dialect: STANDARD,
    // Nobody has measured how much it shows of the tools that it hides.
    lists: [{ shows: "names", from: 32, loads: 1 }],
    entry: (program) => ({ type: "local", ...plain(program), tools: ["*"] }),
    loaded: { deferTools: "never" },
  },
  {
    name: "windsurf",
    title: "Windsurf",
    places: ({ home }) => [user(join(home, ".codeium", "windsurf", "mcp_config.json"), ["mcpServers"])],
    dialect: STANDARD,
    entry: plain,
  },
  {
    name: "zed",
    title: "Zed",
    places: zedFiles,
    dialect: ZED,
    rules: { ...ZED_RULES, files: zedFiles },
    entry: (program) => ({ ...plain(program), env: {} }),
  },
  {
    name: "cline",
    title: "Cline",
    places: (machine) => {
      const file = join("settings", "cline_mcp_settings.json");
      const extension = join("Code", "User", "globalStorage", "saoudrizwan.claude-dev");
      return [
        user(join(appFolder(machine), extension, file), ["mcpServers"]),
        // Cline in a terminal has servers of its own.
        { ...user(join(machine.home, ".cline", "data", file), ["mcpServers"]), profile: "cline-cli" },
      ];
    },
    dialect: CLINE,
    variables: (names) => ({ env: Object.fromEntries(names.map((name) => [name, `\${env:${name}}`])) }),
    lists: [WHOLE],
    // Without it Cline gives a server less than three seconds to start.
    entry: (program) => ({ ...plain(program), timeout: 300 }),
  },
  {
    name: "continue",
    title: "Continue",
    places: ({ home }) => [user(join(home, ".continue", "config.yaml"), ["mcpServers"], "yaml")],
    dialect: CONTINUE,
    rules: {
      ...CONTINUE_RULES,
      files: ({ home }) => [user(join(home, ".continue", "permissions.yaml"), [], "yaml")],
    },
    lists: [WHOLE],
    entry: plain,
  },
  {
    name: "goose",
    title: "Goose",
    places: (machine) => [user(join(gooseFolder(machine), "config.yaml"), ["extensions"], "yaml")],
    dialect: GOOSE,
    rules: {
      ...GOOSE_RULES,
      files: (machine) => [user(join(gooseFolder(machine), "permission.yaml"), [], "yaml")],
    },
    variables: (names) => ({ env_keys: names }),
    entry: ({ command, args }) => ({
      type: "stdio",
      name: "keyhole",
      enabled: true,
      cmd: command,
      args,
      timeout: 300,
    }),
  },
];

function claudeFolder({ home, env }: ClientMachine): string {
  return folderOf(env.CLAUDE_CONFIG_DIR, join(home, ".claude"));
}

function codexFolder({ home, env }: ClientMachine): string {
  return folderOf(env.CODEX_HOME, join(home, ".codex"));
}

function opencodeFolder({ home, env }: ClientMachine): string {
  return join(folderOf(env.XDG_CONFIG_HOME, join(home, ".config")), "opencode");
}

function opencodeFiles(machine: ClientMachine): ConfigLocation[] {
  const own = opencodeFolder(machine);
  const names = ["opencode.json", "opencode.jsonc"];
  return [
    ...names.map((name) => user(join(own, name), ["mcp"])),
    ...names.map((name) => inProject(join(machine.project, name), ["mcp"])),
  ];
}

function zedFiles(machine: ClientMachine): ConfigLocation[] {
  const own = join(configFolder(machine), onWindows(machine, "Zed", "zed"));
  return [
    user(join(own, "settings.json"), ["context_servers"]),
    inProject(join(machine.project, ".zed", "settings.json"), ["context_servers"]),
  ];
}

function gooseFolder(machine: ClientMachine): string {
  return join(configFolder(machine), onWindows(machine, join("Block", "goose", "config"), "goose"));
}

/** The folder of settings that an administrator gives to Claude Code. */
function managedFolder(platform: NodeJS.Platform): string {
  if (platform === "win32") return "C:\\Program Files\\ClaudeCode";
  return platform === "darwin" ? "/Library/Application Support/ClaudeCode" : "/etc/claude-code";
}

/** The settings of Gemini CLI or Qwen Code, and the policies beside them. */
function settingsAndPolicies({ home, project }: ClientMachine, folder: string): ClientRuleFile[] {
  const within = (base: string, toFile: typeof user) => [
    toFile(join(base, folder, "settings.json"), []),
    ...policiesIn(join(base, folder, "policies")).map((path) => toFile(path, [], "toml")),
  ];
  return [...within(home, user), ...within(project, inProject)];
}

function policiesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".toml"));
  return names.sort().map((name) => join(folder, name));
}

/** Gemini CLI and Qwen Code also have lists of allowed and excluded servers. */
/**
 * The listing of the client that gives itself this name, such as `cursor-vscode`: the sparest, if it differs by model.
 * Undefined if the client is not known, or nobody has measured it.
 */
export function listingOf(name: string): ClientListing | undefined {
  const at = (client: Client) => name.toLowerCase().indexOf(client.name);
  const named = CLIENTS.filter((client) => at(client) >= 0);
  return named.toSorted((one, other) => at(one) - at(other))[0]?.lists?.[0];
}

function isExcluded(config: unknown, name: string): boolean {
  const { allowed, excluded } = fieldsOf(field(config, "mcp"));
  return listOf(excluded).includes(name) || (Array.isArray(allowed) && !allowed.includes(name));
}

function plain({ command, args }: Program) {
  return { command, args };
}

function user(path: string, at: readonly string[], format: FormatName = "json"): ConfigLocation {
  return { scope: "user", path, at, format };
}

function inProject(path: string, at: readonly string[], format: FormatName = "json"): ConfigLocation {
  return { scope: "project", path, at, format };
}

/** The folder in which desktop applications keep their settings. */
function appFolder(machine: ClientMachine): string {
  const isMac = machine.platform === "darwin";
  return isMac ? join(machine.home, "Library", "Application Support") : configFolder(machine);
}

function configFolder(machine: ClientMachine): string {
  const { home, env } = machine;
  const roaming = env.APPDATA || join(home, "AppData", "Roaming");
  return onWindows(machine, roaming, folderOf(env.XDG_CONFIG_HOME, join(home, ".config")));
}

function onWindows({ platform }: ClientMachine, path: string, otherwise: string): string {
  return platform === "win32" ? path : otherwise;
}
