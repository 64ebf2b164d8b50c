import { type Client, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import type { Surface } from "../../src/core/surfaces/surface-names.ts";
import { eventually } from "../upstream-kit.ts";
import type { Era } from "./connect.ts";

interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Calls a tool of an upstream server with the words of a surface. */
export const SURFACE_CALLS: Readonly<
  Record<Surface, (server: string, tool: string, args?: Record<string, unknown>) => ToolCall>
> = {
  lanes: (server, tool, args = {}) => ({ name: "exec", arguments: { op: `${server}.${tool}`, args } }),
  routes: (server, tool, args = {}) => ({
    name: "get",
    arguments: { routes: [{ route: `${server}://tools/${tool}`, params: args }] },
  }),
  commands: (server, tool, args = {}) => ({
    name: "tool_exec",
    arguments: { op: `${server}.${tool}`, args },
  }),
  code: (server, tool, args = {}) => ({
    name: "run",
    arguments: { code: `return tools.${server}[${JSON.stringify(tool)}](${JSON.stringify(args)})` },
  }),
  native: (server, tool, args = {}) => ({ name: `${server}_${tool}`, arguments: args }),
};

/** Makes a call, asking for the logs of a level and above, and returns the first that the client hears. */
export async function logsOfCall(
  client: Client,
  era: Era,
  call: ToolCall,
  level: "warning",
): Promise<readonly unknown[]> {
  const heard: unknown[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => {
    heard.push(params);
  });
  if (era === "2025-11-25") await client.setLoggingLevel(level);
  const wanted = era === "2025-11-25" ? {} : { _meta: { [LOG_LEVEL_META_KEY]: level } };
  await client.callTool({ ...call, ...wanted });
  await eventually(() => {
    if (heard.length === 0) throw new Error("The client has heard no logs.");
  });
  return heard;
}
