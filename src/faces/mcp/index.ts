export type { McpServer, McpServerOptions } from "./mcp-server.ts";
export { createMcpServer } from "./mcp-server.ts";
export type { HttpOptions, HttpServer } from "./serve-http.ts";
export { serveHttp } from "./serve-http.ts";
