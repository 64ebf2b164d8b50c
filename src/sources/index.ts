export { fromMcpConfig } from "./mcp/from-mcp-config.ts";
export type { McpDiagnostics } from "./mcp/mcp-run.ts";
export type { McpSource, McpSourceOptions } from "./mcp/mcp-source.ts";
export { createMcpSource } from "./mcp/mcp-source.ts";
export type { McpServerConfig } from "./mcp/server-config.ts";
export type { UpstreamDiagnostics, UpstreamLimits } from "./mcp/upstream.ts";
