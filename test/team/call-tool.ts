import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

/** A client of one address, with a key. It repeats nothing: what fails is thrown. */
export async function connectTo(url: string, key: string) {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const mode = { pin: "2026-07-28" } as const;
  const client = new Client({ name: "team", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close().catch(() => {}));
  return async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: args });
    return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  };
}
