import {
  Client,
  type ClientOptions,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Principal } from "keyhole";
import type { McpServer } from "keyhole/mcp";

export const ERAS = ["2026-07-28", "2025-11-25"] as const;
export type Era = (typeof ERAS)[number];

export interface Connected {
  readonly client: Client;
  /** All messages to the client, as text. */
  readonly received: string[];
}

type Options = Pick<ClientOptions, "capabilities" | "listChanged"> & { readonly name?: string };

/** Connects the SDK's client of that revision in memory, as over stdio. */
export async function connect(server: McpServer, era: Era, options: Options = {}): Promise<Connected> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: string[] = [];
  server.connect(far);
  const client = createClient(era, options);
  await client.connect(near);
  const deliver = near.onmessage;
  near.onmessage = (message, extra) => {
    received.push(JSON.stringify(message));
    deliver?.(message, extra);
  };
  return { client, received };
}

/** Connects it over Streamable HTTP without a socket: requests go straight into the server. */
export async function connectHttp(
  server: McpServer,
  era: Era,
  { principal, ...options }: Options & { principal?: Principal } = {},
): Promise<Connected> {
  const received: string[] = [];
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: async (url, init) => {
      const response = await server.fetch(
        new Request(url, init as RequestInit),
        principal ? { principal } : {},
      );
      const type = response.headers.get("content-type") ?? "";
      if (type.includes("json")) received.push(await response.clone().text());
      return response;
    },
  });
  const client = createClient(era, options);
  await client.connect(transport);
  return { client, received };
}

function createClient(era: Era, { name = "test", ...options }: Options): Client {
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  return new Client(
    { name, version: "1" },
    { ...options, versionNegotiation: { mode }, defaultCacheTtlMs: 0 },
  );
}
