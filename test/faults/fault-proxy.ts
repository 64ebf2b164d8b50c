import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

/** Faults of a network between a client and a server. They count for the bytes that come after they are set. */
export interface NetworkFaults {
  /** Waits before each part is passed on. */
  readonly latencyMs?: number;
  /** Bytes of an answer that pass in a second. */
  readonly bytesPerSecond?: number;
  /** Ends a connection after this many bytes of answers. */
  readonly cutAfter?: number;
  /** Resets new connections and those in use. */
  readonly reset?: boolean;
  /** Passes nothing on, and says nothing. */
  readonly blackhole?: boolean;
}

/** A TCP proxy that misbehaves on demand. */
export interface FaultProxy {
  readonly port: number;
  set(faults: NetworkFaults): void;
  close(): Promise<void>;
}

export async function createFaultProxy(targetPort: number): Promise<FaultProxy> {
  let faults: NetworkFaults = {};
  const sockets = new Set<Socket>();

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  }

  const server = createServer((near) => {
    keep(near);
    if (faults.reset) return void near.resetAndDestroy();
    const far = keep(connect(targetPort, "127.0.0.1"));
    near.once("close", () => far.destroy());
    far.once("close", () => near.end());
    near.pipe(delaying(() => faults)).pipe(far);
    far
      .pipe(delaying(() => faults))
      .pipe(slowing(() => faults))
      .pipe(cutting(() => faults, near))
      .pipe(near);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));

  return {
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      faults = next;
      if (next.reset) for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Passes parts on later, or never. */
function delaying(faults: () => NetworkFaults): Transform {
  return new Transform({
    transform: (chunk, _, pass) => {
      const { latencyMs = 0, blackhole = false } = faults();
      if (blackhole) return;
      setTimeout(() => pass(null, chunk), latencyMs);
    },
  });
}

function slowing(faults: () => NetworkFaults): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, pass) => {
      const { bytesPerSecond = Number.POSITIVE_INFINITY } = faults();
      setTimeout(() => pass(null, chunk), (chunk.length / bytesPerSecond) * 1_000);
    },
  });
}

function cutting(faults: () => NetworkFaults, near: Socket): Transform {
  let passed = 0;
  return new Transform({
    transform: (chunk: Buffer, _, pass) => {
      const { cutAfter } = faults();
      if (cutAfter === undefined) return pass(null, chunk);
      const left = Math.max(0, cutAfter - passed);
      passed += chunk.length;
      if (passed <= cutAfter) return pass(null, chunk);
      near.write(chunk.subarray(0, left), () => near.resetAndDestroy());
    },
  });
}
