import { resolve } from "node:path";
import type { Gateway, GatewayOptions } from "keyhole";
import type { McpSourceOptions } from "keyhole/sources";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { gatewayOf, PATIENT } from "../upstream-kit.ts";

/** A gateway before a real server that answers with these lists and results. */
export function gatewaySaying(
  says: Readonly<Record<string, unknown>>,
  options: McpSourceOptions = {},
  gateway: Partial<GatewayOptions> = {},
): Gateway {
  const args = [resolve("test/threats/text-upstream.ts")];
  const env = { SAYS: JSON.stringify(says) };
  const source = createMcpSource(
    "says",
    { command: process.execPath, args, env },
    { trusted: true, limits: PATIENT, ...options },
  );
  return gatewayOf([source], gateway);
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
