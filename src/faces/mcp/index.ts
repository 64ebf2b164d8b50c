export type { OAuthOptions, TokenFinder } from "./bearer.ts";
export type { CallerLimitOptions } from "./caller-limits.ts";
export type { Webhook } from "./http-routes.ts";
export type { InstructionContext, InstructionsOption } from "./listing.ts";
export type { ConnectedClient, McpServer, McpServerOptions } from "./mcp-server.ts";
export { createMcpServer } from "./mcp-server.ts";
export type { HttpOptions, HttpServer } from "./serve-http.ts";
export { serveHttp } from "./serve-http.ts";
