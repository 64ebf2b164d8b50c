import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { createGateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";

const CLIENTS = 1_000;
const ESTABLISHED = "01";

/** The connections to a port that the system has taken in. It gives others up after some seconds. */
function takenIn(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return rows.filter((row) => {
    const [, address, , state] = row.trim().split(/\s+/);
    return address?.endsWith(local) && state === ESTABLISHED;
  }).length;
}

const queue = "/proc/sys/net/core/somaxconn";
const isSmall = !existsSync(queue) || Number(readFileSync(queue, "utf8")) < CLIENTS;
if (isSmall) console.warn(`Skipped: this system has no queue for ${CLIENTS} connections.`);

test.skipIf(isSmall)(
  "reconnect-storm: 1,000 clients that connect while the gateway is busy are all taken in",
  async () => {
    const gateway = createGateway({ domains: [] });
    const server = createMcpServer(gateway);
    const http = await serveHttp(server);
    const port = Number(new URL(http.url).port);
    const sockets = Array.from({ length: CLIENTS }, () => connect(port, "127.0.0.1").on("error", () => {}));
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await http.close();
      await server.close();
      await gateway.close();
    });
    await new Promise((sent) => process.nextTick(sent));
    // The gateway accepts nothing while its thread waits.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect(takenIn(port)).toBe(CLIENTS);
  },
);
