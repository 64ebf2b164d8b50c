import type { Packages } from "../install-packages.ts";

/** How a program is started. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** The servers behind a gateway, as `mcpServers` of a config. */
export type Servers = Readonly<
  Record<
    string,
    {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  >
>;

export interface GatewaySetup {
  readonly servers: Servers;
  /** A folder for its config, its state and its caches. */
  readonly folder: string;
  readonly installed: string;
}

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A system that puts several MCP servers behind one. A new peer is a row of `PEERS`. */
export interface GatewayPeer {
  readonly name: string;
  readonly packages?: Packages;
  /** Packages of PyPI instead. */
  readonly python?: Packages;
  /** Writes the config and says how to start it. It speaks MCP over stdio. */
  start(setup: GatewaySetup): Promise<Start>;
  /** Stops the daemon that it leaves for the next client. */
  stop?(setup: GatewaySetup): Start;
  /** Searches as a model would. Absent: the model sees every tool in the menu. */
  search?(query: string): ToolCall;
  /** Calls the tool of a server as a model would. */
  call(server: string, tool: string, args: Readonly<Record<string, unknown>>): ToolCall;
}
