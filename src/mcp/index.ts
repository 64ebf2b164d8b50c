export type { InstructionContext, InstructionsOption } from "./instructions.ts";
export type { McpServer, McpServerOptions } from "./mcp-server.ts";
export { createMcpServer } from "./mcp-server.ts";
