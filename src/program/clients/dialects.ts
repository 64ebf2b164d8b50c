import { fieldsOf, isPlainObject, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import { FIELD_ALIASES } from "../../sources/mcp/config/server-config.ts";
import type { Dialect, Meaning } from "./client.ts";

type Meanings = Readonly<Record<string, Meaning>>;

const SECOND_MS = 1_000;

const common: Meanings = {
  ...same("command", "args", "env", "cwd", "url", "headers"),
  // Only the old transport has to be told apart.
  type: { to: toTransport },
  enabled: { to: (enabled) => (enabled === false ? { disabled: true } : {}) },
  disabled: { to: (disabled) => (disabled === true ? { disabled } : {}) },
};

const seconds: Meaning = { to: (count) => toTimeout(count, SECOND_MS) };
const milliseconds: Meaning = { to: (count) => toTimeout(count, 1) };

/** The `mcpServers` block that most clients share. */
export const STANDARD: Dialect = {
  fields: {
    ...common,
    ...Object.fromEntries(Object.entries(FIELD_ALIASES).map(([alias, as]) => [alias, { as }])),
    ...same("envFile", "oauth", "timeoutMs", "includeTools", "excludeTools"),
    timeout: milliseconds,
    // Copilot's `*` means all tools.
    tools: { to: (tools) => (listOf(tools).includes("*") ? {} : { includeTools: tools }) },
    ...lost("trust", "autoApprove", "alwaysAllow", "sandbox"),
    headersHelper: "unknown",
    ...ignored(
      "alwaysLoad",
      "alwaysLoadTools",
      "deferTools",
      "description",
      "name",
      "gallery",
      "version",
      "dev",
    ),
  },
};

/** Gemini CLI also writes `$NAME`, and asks nothing about servers that it trusts. */
export const GEMINI: Dialect = {
  fields: { ...STANDARD.fields, trust: { to: (trust) => neverAsking(trust === true ? ["*"] : []) } },
  variables: (text) => text.replace(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`),
};

export const CLINE: Dialect = {
  fields: { ...STANDARD.fields, timeout: seconds, autoApprove: { to: neverAsking } },
};

export const OPENCODE: Dialect = {
  fields: {
    ...common,
    command: { to: toCommand },
    environment: { as: "env" },
    ...ignored("timeout"),
    ...lost("oauth"),
  },
  variables: (text) => text.replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`),
};

export const CODEX: Dialect = {
  fields: {
    ...common,
    env_vars: { to: (names) => ({ env: fromNames(names) }) },
    http_headers: { as: "headers" },
    env_http_headers: { to: (headers) => ({ headers: mapValues(headers, (name) => `\${${name}}`) }) },
    bearer_token_env_var: { to: (name) => ({ headers: { Authorization: `Bearer \${${String(name)}}` } }) },
    enabled_tools: { as: "includeTools" },
    disabled_tools: { as: "excludeTools" },
    tool_timeout_sec: seconds,
    ...ignored("startup_timeout_sec", "startup_timeout_ms", "omit_tools_from", "required"),
    ...ignored("supports_parallel_tool_calls"),
    default_tools_approval_mode: { to: (mode) => toAsks({ "*": { approval_mode: mode } }) },
    tools: { to: toAsks },
    ...lost("scopes", "oauth_resource"),
  },
};

export const ZED: Dialect = {
  fields: {
    ...common,
    command: { to: toCommand },
    timeout: seconds,
    ...ignored("source", "remote"),
    // Extensions start their servers themselves.
    settings: "unknown",
  },
};

export const CONTINUE: Dialect = {
  isList: true,
  fields: {
    ...common,
    requestOptions: { to: (options) => ({ headers: fieldsOf(fieldsOf(options).headers) }) },
    ...ignored("name", "connectionTimeout", "faviconUrl", "sourceFile"),
  },
};

const GOOSE_SERVERS = ["stdio", "sse", "streamable_http"];

export const GOOSE: Dialect = {
  fields: {
    ...common,
    type: { to: (type) => (GOOSE_SERVERS.includes(String(type)) ? toTransport(type) : { builtin: type }) },
    cmd: { as: "command" },
    envs: { as: "env" },
    env_keys: { to: (names) => ({ env: fromNames(names) }) },
    uri: { as: "url" },
    available_tools: { to: (tools) => (listOf(tools).length === 0 ? {} : { includeTools: tools }) },
    timeout: seconds,
    ...ignored("name", "display_name", "description", "bundled"),
    socket: "unknown",
  },
};

/** Fields that mean the same in Keyhole's config. */
function same(...names: readonly string[]): Meanings {
  return Object.fromEntries(names.map((name) => [name, { as: name }]));
}

function ignored(...names: readonly string[]): Meanings {
  return Object.fromEntries(names.map((name) => [name, "ignored"]));
}

function lost(...names: readonly string[]): Meanings {
  return Object.fromEntries(names.map((name) => [name, "lost"]));
}

function toTransport(type: unknown): PlainObject {
  return type === "sse" ? { type } : {};
}

/** A command as one list with its arguments, or as an object with a path. */
function toCommand(given: unknown): PlainObject {
  if (Array.isArray(given)) return { command: given[0], args: given.slice(1) };
  if (!isPlainObject(given)) return { command: given };
  const { path, args = [], env = {} } = given;
  return { command: path, args, env };
}

function toTimeout(count: unknown, unitMs: number): PlainObject {
  const timeoutMs = Math.round(Number(count) * unitMs);
  return timeoutMs > 0 && Number.isSafeInteger(timeoutMs) ? { timeoutMs } : {};
}

function neverAsking(tools: unknown): PlainObject {
  const names = listOf(tools).map(String);
  return names.length === 0 ? {} : { askTools: Object.fromEntries(names.map((name) => [name, "never"])) };
}

/** Codex's approvals by tool. With `auto`, Keyhole decides as for any tool. */
function toAsks(tools: unknown): PlainObject {
  const asks = Object.entries(fieldsOf(tools)).flatMap(([tool, part]) => {
    const { approval_mode: mode = "auto" } = fieldsOf(part);
    if (mode === "auto") return [];
    return [[tool, mode === "approve" ? "never" : mode === "writes" ? mode : "always"]];
  });
  return asks.length === 0 ? {} : { askTools: Object.fromEntries(asks) };
}

/** Passes on the person's own variables of these names. */
function fromNames(names: unknown): PlainObject {
  const texts = listOf(names).filter((name) => typeof name === "string");
  return Object.fromEntries(texts.map((name) => [name, `\${${name}}`]));
}

function mapValues(values: unknown, map: (value: string) => string): PlainObject {
  return Object.fromEntries(
    Object.entries(fieldsOf(values)).map(([name, value]) => [name, map(String(value))]),
  );
}
