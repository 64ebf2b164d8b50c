// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { describe, expect, test } from "vitest";
import { fromMcpConfig } from "../mcp-source.ts";
import { readServerConfig } from "./server-config.ts";
import { expandVariables } from "./to-launch.ts";

describe("configs of other clients", () => {
  test("mcpServers, servers, text and object", () => {
    const servers = {
      github: { command: "gh-mcp", args: ["--x"], env: { A: 1 } },
      web: { url: "https://x.test" },
    };
    expect(fromMcpConfig({ mcpServers: servers }).map(({ id }) => id)).toEqual(["mcp:github", "mcp:web"]);
    expect(fromMcpConfig(JSON.stringify({ servers })).map(({ id }) => id)).toEqual(["mcp:github", "mcp:web"]);
    expect(fromMcpConfig({ mcp: { servers } })).toHaveLength(2);
  });

  test("names of servers become labels that differ", () => {
    const config = { command: "x" };
    const servers = {
      "My Server!": config,
      "my server": config,
      "My-Server": config,
      "2nd": config,
      "": config,
    };
    expect(fromMcpConfig({ mcpServers: servers }).map(({ id }) => id)).toEqual([
      "mcp:server-unnamed",
      "mcp:server-2nd",
      "mcp:My-Server",
      "mcp:My-Server-2",
      "mcp:my-server",
    ]);
  });

  test("disabled servers are left out", () => {
    expect(fromMcpConfig({ mcpServers: { a: { command: "x", disabled: true } } })).toEqual([]);
  });

  test.each([
    ["no config", "[]", "not a JSON object"],
    ["no JSON", "{", "not JSON"],
    ["no servers", "{}", "neither mcpServers nor servers"],
    ["nothing to start", '{"servers":{"a":{}}}', "neither a command nor a url"],
    ["both", '{"servers":{"a":{"command":"x","url":"y"}}}', "both a command and a url"],
    ["an unknown transport", '{"servers":{"a":{"type":"smtp","url":"https://x"}}}', "type"],
    ["wrong types", '{"servers":{"a":{"command":"x","args":"y"}}}', "args"],
  ])("%s is refused with the reason", (_, json, reason) => {
    expect(() => fromMcpConfig(json)).toThrow(reason);
  });

  test("remote servers by the other names of the field", () => {
    expect(readServerConfig("a", { httpUrl: "https://x.test" })).toMatchObject({ transport: "http" });
    const old = readServerConfig("a", { type: "sse", url: "https://x.test" });
    expect(old).toMatchObject({ transport: "http", sse: true });
    expect(readServerConfig("a", { serverUrl: "https://x.test" })).toMatchObject({ url: "https://x.test" });
  });
});

describe("variables", () => {
  const variables = { NAME: "value", EMPTY: "" };
  test.each([
    ["${NAME}", "value"],
    ["${env:NAME}", "value"],
    ["a ${NAME} b ${NAME}", "a value b value"],
    ["${MISSING:-fallback}", "fallback"],
    ["${env:MISSING:-}", ""],
    ["${EMPTY:-fallback}", "fallback"],
    ["${EMPTY}", ""],
    ["$NAME {NAME}", "$NAME {NAME}"],
  ])("%s is %s", (text, expanded) => {
    expect(expandVariables("a", text, variables)).toBe(expanded);
  });

  test("missing variables are named", () => {
    expect(() => expandVariables("files", "${MISSING}", variables)).toThrow(
      "The configuration of the server files cannot be used: the variable MISSING is not set.",
    );
    expect(() => expandVariables("a", "${constructor}", variables)).toThrow("constructor is not set");
    expect(() => expandVariables("a", "${input:key}", variables)).toThrow("keyhole secrets set key");
    expect(expandVariables("a", "${secret:key}${input:key}", { "secret:key": "x" })).toBe("xx");
    expect(() => expandVariables("a", "${command:key}", variables)).toThrow(
      "is not a variable that can be filled in",
    );
  });
});
