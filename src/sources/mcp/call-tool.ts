import type { CallToolResult, Client, RequestOptions, Tool } from "@modelcontextprotocol/client";

/** The params of a `tools/call`. */
export type CallParams = Parameters<Client["callTool"]>[0];

export type CallToolOptions = Pick<
  RequestOptions,
  "signal" | "timeout" | "onprogress" | "allowInputRequired"
> & {
  readonly toolDefinition: Omit<Tool, "outputSchema">;
};

/** Calls a tool of a server: through the SDK, or past it where neither request nor answer needs it. */
export type CallTool = (params: CallParams, options: CallToolOptions) => Promise<CallToolResult>;
