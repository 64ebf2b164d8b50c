import { resolve } from "node:path";
import type { Gateway } from "keyhole";
import type { McpSourceOptions } from "keyhole/sources";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { gatewayOf, PATIENT } from "../upstream-kit.ts";

/** A gateway before a real server that answers with these lists and results. */
export function gatewaySaying(
  says: Readonly<Record<string, unknown>>,
  options: McpSourceOptions = {},
): Gateway {
  const args = [resolve("test/threats/text-upstream.ts")];
  const env = { SAYS: JSON.stringify(says) };
  return gatewayOf([
    createMcpSource(
      "says",
      { command: process.execPath, args, env },
      { trusted: true, limits: PATIENT, ...options },
    ),
  ]);
}

export function toolOf(name: string, more: object = {}) {
  return {
    name,
    description: "Reads.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    ...more,
  };
}

export function textResult(text: string, more: object = {}) {
  return { content: [{ type: "text", text }], ...more };
}
