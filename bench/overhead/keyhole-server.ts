// Keyhole in front of the echo server, both over the same transport: SURFACE, then the upstream's address
// for HTTP. Over HTTP it prints its own address.
import { resolve } from "node:path";
import { createGateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createMcpSource } from "keyhole/sources";
import type { Surface } from "../../src/operations/surfaces.ts";

const [surface = "native", url] = process.argv.slice(2);
const upstream = url
  ? { url }
  : { command: process.execPath, args: [resolve(import.meta.dirname, "echo-server.ts")] };
const gateway = createGateway({
  domains: [],
  sources: [createMcpSource("echo", upstream, { trusted: true })],
});
const server = createMcpServer(gateway, { surface: surface as Surface });
await gateway.ready();

if (url) {
  // One token stands for all clients here, and the limits are meant for each of them.
  const limits = { ratePerSecond: 1e6, burst: 1e6, concurrency: 1e6 };
  const http = await serveHttp(server, { token: "benchmark", limits });
  console.log(http.url);
} else {
  server.connect();
  process.stdin.once("close", async () => {
    await server.close();
    await gateway.close();
    process.exit(0);
  });
}
process.on("SIGTERM", () => void gateway.close().then(() => process.exit(0)));
