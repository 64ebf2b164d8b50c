import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { SetTool } from "../../bench/tool-sets.ts";

type Message = { readonly id?: number | string; readonly method?: string; readonly params?: Params };
type Params = { readonly name?: string; readonly protocolVersion?: string };

/** Many MCP servers on one port, each at the path of its name. Any call of a tool says that it was called. */
export async function serveCatalogue(servers: ReadonlyMap<string, readonly SetTool[]>) {
  let generation = 1;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.url?.slice(1) ?? "";
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as Message;
    const session = request.headers["mcp-session-id"];
    if (session !== undefined && session !== `${generation}`) return void response.writeHead(404).end();
    if (id === undefined) return void response.writeHead(202).end();
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...resultOf(name, method, params) });
    const begins = method === "initialize" ? { "mcp-session-id": `${generation}` } : {};
    response.writeHead(200, { "content-type": "application/json", ...begins }).end(body);
  }

  function resultOf(name: string, method = "", params: Params = {}): object {
    if (method === "initialize") {
      const protocolVersion = params.protocolVersion === "2024-11-05" ? "2024-11-05" : "2025-06-18";
      const serverInfo = { name, version: "1.0.0" };
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    if (method === "tools/list") return { result: { tools: (servers.get(name) ?? []).map(toDefinition) } };
    if (method === "tools/call")
      return { result: { content: [{ type: "text", text: `${params.name} was called.` }] } };
    if (method === "ping") return { result: {} };
    return { error: { code: -32_601, message: "Method not found" } };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urls: Object.fromEntries(
      [...servers.keys()].map((name) => [name, { url: `http://127.0.0.1:${port}/${name}` }]),
    ),
    /** All sessions and connections of clients end, as when the servers are started again. */
    restart: () => {
      generation += 1;
      server.closeAllConnections();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function toDefinition({ name, description, input_schema }: SetTool): object {
  return { name, description, inputSchema: { ...input_schema, type: "object" } };
}
