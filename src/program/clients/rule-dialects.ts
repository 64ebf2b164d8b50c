import { field, fieldsOf, isPlainObject, listOf } from "../../base/util/plain-object.ts";
import type { ClientRule, ClientRules } from "./client.ts";

/** How a client writes rules about tools, whatever file they stand in. */
type RuleDialect = Omit<ClientRules, "files">;
type RuleEffect = ClientRule["does"];

export const OVER_ARGUMENTS = "it depends on the arguments of a call";
const OF_ONE_AGENT = "it holds for one agent of the client";

/** `permissions` with lists of `mcp__SERVER__TOOL`. The strictest counts. */
export const CLAUDE_RULES: RuleDialect = {
  prefixes: (server) => [`mcp__${plain(server)}__`],
  read: (config) =>
    readLists(field(config, "permissions"), "permissions", { deny: "deny", ask: "ask", allow: "allow" }),
};

/** Gemini CLI: lists in its settings, and policies in files of their own. */
export const GEMINI_RULES: RuleDialect = {
  prefixes: (server) => [`mcp_${plain(server)}_`, `${plain(server)}__`],
  read: (config) => [
    ...readLists(config, "", { excludeTools: "deny" }),
    ...readLists(field(config, "tools"), "tools", { exclude: "deny", allowed: "allow" }),
    ...listOf(field(config, "rule")).flatMap(readPolicy),
  ],
};

/** Qwen Code has the lists of Gemini CLI and those of Claude Code. */
export const QWEN_RULES: RuleDialect = {
  prefixes: CLAUDE_RULES.prefixes,
  read: (config) => [...GEMINI_RULES.read(config), ...CLAUDE_RULES.read(config)],
};

export const OPENCODE_RULES: RuleDialect = {
  lastCounts: true,
  prefixes: (server) => [`${plain(server)}_`],
  read: (config) => [
    ...readOpencode(config, ""),
    ...Object.entries(fieldsOf(field(config, "agent"))).flatMap(([agent, part]) =>
      readOpencode(part, `agent.${agent}.`).map((rule) => ({ ...rule, but: OF_ONE_AGENT })),
    ),
  ],
};

/** Cursor's editor has a list of allowed tools, its command line writes `Mcp(SERVER:TOOL)`. */
export const CURSOR_RULES: RuleDialect = {
  prefixes: (server) => [`${server}:`],
  read: (config) => [
    ...readLists(config, "", { mcpAllowlist: "allow" }),
    ...readLists(field(config, "permissions"), "permissions", { deny: "deny", allow: "allow" }, (text) => {
      return text.replace(/^Mcp\(\s*([^:,)]+?)\s*[:,]\s*(.*?)\s*\)$/s, "$1:$2");
    }),
  ],
};

export const ZED_RULES: RuleDialect = {
  lastCounts: true,
  prefixes: (server) => [`mcp:${server}:`],
  read: (config) => {
    const { default: otherwise, tools } = fieldsOf(field(field(config, "agent"), "tool_permissions"));
    const at = "agent.tool_permissions";
    return [
      ...(otherwise === "deny" ? [{ names: ["mcp:*"], does: "deny" as const, as: `${at}.default` }] : []),
      ...Object.entries(fieldsOf(tools)).flatMap(([name, part]): ClientRule[] => {
        const { default: mode, ...patterns } = fieldsOf(part);
        const as = `${at}.tools ${name}`;
        const isByPattern = Object.values(patterns).some((list) => listOf(list).length > 0);
        if (isByPattern) return [{ names: [name], does: "ask", as, but: OVER_ARGUMENTS }];
        return mode === undefined ? [] : [{ names: [name], does: effectOf(mode), as }];
      }),
    ];
  },
};

export const GOOSE_RULES: RuleDialect = {
  prefixes: (server) => [`${server.toLowerCase().replace(/[^a-z0-9_-]/g, "")}__`],
  read: (config) =>
    readLists(field(config, "user"), "user", {
      never_allow: "deny",
      ask_before: "ask",
      always_allow: "allow",
    }),
};

/** Continue's names of tools do not have the server's in them. */
export const CONTINUE_RULES: RuleDialect = {
  prefixes: () => [""],
  read: (config) => readLists(config, "", { exclude: "deny", ask: "ask", allow: "allow" }),
};

/** Reads lists of names. Names with parentheses are patterns over arguments. */
function readLists(
  holder: unknown,
  at: string,
  lists: Readonly<Record<string, RuleEffect>>,
  toName: (text: string) => string = (text) => text,
): ClientRule[] {
  return Object.entries(lists).flatMap(([list, does]) =>
    listOf(field(holder, list))
      .filter((text) => typeof text === "string")
      .map((text): ClientRule => {
        const [name = "", inner] = toName(text).split("(", 2);
        const as = `${[at, list].filter(Boolean).join(".")} ${text}`;
        return { names: [name], does, as, ...(inner !== undefined && { but: OVER_ARGUMENTS }) };
      }),
  );
}

/** A rule of Gemini CLI's policies. Priorities are left out: the strictest rule counts. */
function readPolicy(rule: unknown): ClientRule[] {
  const { toolName = "*", mcpName, decision, priority: _, ...conditions } = fieldsOf(rule);
  const tools = (Array.isArray(toolName) ? toolName : [toolName]).map(String);
  const names = mcpName === undefined ? tools : tools.map((tool) => `mcp_${plain(String(mcpName))}_${tool}`);
  const isConditional = ["argsPattern", "commandPrefix", "commandRegex", "modes", "toolAnnotations"].some(
    (condition) => conditions[condition] !== undefined,
  );
  const but = isConditional ? OVER_ARGUMENTS : undefined;
  const as = `rule ${names.join(", ")} ${String(decision)}`;
  return [{ names, does: effectOf(decision), as, ...(but !== undefined && { but }) }];
}

/** `tools` switches tools on and off, `permission` comes after it. */
function readOpencode(config: unknown, at: string): ClientRule[] {
  const { tools, permission } = fieldsOf(config);
  const permissions = isPlainObject(permission)
    ? permission
    : permission === undefined
      ? {}
      : { "*": permission };
  return [
    ...Object.entries(fieldsOf(tools)).map(([name, isOn]): ClientRule => {
      return { names: [name], does: isOn === false ? "deny" : "allow", as: `${at}tools ${name}` };
    }),
    ...Object.entries(permissions).map(([name, value]): ClientRule => {
      const as = `${at}permission ${name}`;
      if (!isPlainObject(value)) return { names: [name], does: effectOf(value), as };
      return { names: [name], does: "ask", as, but: OVER_ARGUMENTS };
    }),
  ];
}

/** A word that is not known counts as a question. */
function effectOf(word: unknown): RuleEffect {
  return word === "deny" || word === "allow" ? word : "ask";
}

/** Clients write other characters of a name as `_`. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}
