import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ListServer {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
}

/** Serves lists of models in the formats of all providers. Without the key `good`, it refuses. */
export async function serveModelLists(names: readonly string[]): Promise<ListServer> {
  const requests: { path: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer(({ url = "/", headers }, response) => {
    requests.push({ path: url, headers });
    const given = [headers.authorization, headers["x-api-key"], headers["x-goog-api-key"]];
    const isAllowed = given.some((value) => value === "good" || value === "Bearer good");
    response.writeHead(isAllowed ? 200 : 401, { "content-type": "application/json" });
    const answers = { supportedGenerationMethods: ["generateContent"] };
    const body = {
      data: names.map((id) => ({ id })),
      models: [
        ...names.map((name) => ({ name: `models/${name}`, ...answers })),
        { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
      ],
    };
    response.end(JSON.stringify(isAllowed ? body : { error: { message: "bad key" } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
