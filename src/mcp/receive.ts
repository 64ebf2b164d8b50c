import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { descriptorLimit } from "../util/descriptor-limit.ts";
import { readBytes } from "./node-http.ts";
import { createUnfinished, type Unfinished } from "./unfinished.ts";

/** How long a client may take to send its headers, and a whole request. A busy server may read them late. */
export const HEADERS_MS = 30_000;
export const REQUEST_MS = 60_000;
/** How often the deadlines are checked. */
export const CHECK_MS = 1_000;

/** More than honest clients open in one moment. */
export const MAX_CONNECTIONS = 2_048;
/** More than a caller may run at a time. */
const MAX_BODIES = 64;

/** Limits connections that have not sent the headers of their first request. */
export function limitConnections(http: Server): void {
  // The other half is for requests that run.
  const limit = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() / 2));
  const unfinished = createUnfinished<Socket>(limit, (socket) => socket.destroy());
  http.on("connection", (socket) => {
    unfinished.add(socket);
    socket.once("close", () => unfinished.delete(socket));
  });
  http.on("request", ({ socket }) => unfinished.delete(socket));
}

/** Reads bodies. An unfinished one counts as none of its caller's calls, and gives way to the newer ones. */
export function createBodyReader(): (
  caller: string,
  request: IncomingMessage,
  maxBytes: number,
) => Promise<Buffer | undefined> {
  const callers = new Map<string, Unfinished<IncomingMessage>>();
  return async (caller, request, maxBytes) => {
    const own = callers.get(caller) ?? createUnfinished(MAX_BODIES, (oldest) => oldest.destroy());
    callers.set(caller, own);
    own.add(request);
    try {
      return await readBytes(request, maxBytes);
    } finally {
      own.delete(request);
      if (own.size === 0) callers.delete(caller);
    }
  };
}
