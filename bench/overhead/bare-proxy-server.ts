// An HTTP proxy that passes requests on to the address in its argument and does nothing else. It prints its own
// address. Its cost is that of one more hop.
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

const upstream = new URL(process.argv[2]!);
const agent = new Agent({ keepAlive: true });

const server = createServer((received, response) => {
  const headers = { ...received.headers, host: upstream.host };
  const sent = request(upstream, { agent, method: received.method!, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    pipeline(answer, response, () => {});
  });
  pipeline(received, sent, () => {});
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
