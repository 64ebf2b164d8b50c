export type { CallerLimitOptions } from "./caller-limits.ts";
export type { InstructionContext, InstructionsOption } from "./instructions.ts";
export type { McpServer, McpServerOptions } from "./mcp-server.ts";
export { createMcpServer } from "./mcp-server.ts";
export type { OAuthOptions } from "./oauth.ts";
export type { HttpOptions, HttpServer } from "./serve-http.ts";
export { serveHttp } from "./serve-http.ts";
export type { Webhook } from "./webhooks.ts";
