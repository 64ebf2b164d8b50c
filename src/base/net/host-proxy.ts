import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { guardedLookup } from "./dialler.ts";
import { namedAddressRefusal } from "./guarded-fetch.ts";

export interface HostProxyOptions {
  /** Reachable hosts, as `name`, `*.name` or either with `:port`. Undefined: every host. */
  readonly hosts: readonly string[] | undefined;
  /** Called for each host that a program requests. */
  onHost?(host: string, isListed: boolean): void;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly lookup?: LookupFunction;
}

const CONNECT_MS = 10_000;
/** A listed name must not lead to services of this machine; a listed address may. */
const lookup = guardedLookup((address) =>
  /^(?:127\.|::1$)/.test(address) ? "is a loopback address" : namedAddressRefusal(address),
);

/**
 * An HTTP proxy (CONNECT and plain requests) to listed hosts only. Checks the requested name, not the encrypted
 * content. The caller passes connections in, or lets it listen.
 */
export function createHostProxy({ hosts, onHost }: HostProxyOptions): Server {
  const admit = (authority: string, usualPort: number): Target | undefined => {
    const { hostname = "", port = "" } = URL.parse(`http://${authority}`) ?? {};
    const host = hostname.replace(/^\[|\]$|\.$/g, "");
    // The parser drops the default port of its own scheme.
    const number = Number(port || (authority.endsWith(":80") ? 80 : usualPort));
    const isListed = host !== "" && (hosts === undefined || hosts.some((one) => matches(one, host, number)));
    onHost?.(host, isListed);
    if (!isListed) return undefined;
    return { host, port: number, ...(hosts && isIP(host) === 0 && { lookup }) };
  };
  return createServer((incoming, answer) => forward(incoming, answer, admit)).on(
    "connect",
    (incoming, socket, head) => tunnel(admit(incoming.url ?? "", 443), socket, head),
  );
}

function matches(pattern: string, host: string, port: number): boolean {
  const [, name = "", only] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (only !== undefined && Number(only) !== port) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name.replace(/^\[|\]$/g, "");
}

function tunnel(target: Target | undefined, socket: Duplex, head: Buffer): void {
  socket.on("error", () => socket.destroy());
  const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
  if (!target) return void refuse("403 This host is not in the sandbox's list");
  const peer = connect(target);
  const timer = setTimeout(() => peer.destroy(), CONNECT_MS);
  let isOpen = false;
  peer.once("connect", () => {
    isOpen = true;
    clearTimeout(timer);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    peer.write(head);
    peer.pipe(socket).pipe(peer);
  });
  peer.on("error", () => peer.destroy());
  peer.once("close", () => {
    clearTimeout(timer);
    if (isOpen) socket.destroy();
    else refuse("502 This host could not be reached");
  });
  socket.once("close", () => peer.destroy());
}

function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  admit: (authority: string, usualPort: number) => Target | undefined,
): void {
  const url = URL.parse(incoming.url ?? "");
  if (url?.protocol !== "http:") return void answer.writeHead(400).end();
  const target = admit(url.host, 80);
  if (!target) return void answer.writeHead(403).end(`${url.host} is not in the sandbox's list of hosts.\n`);
  const { "proxy-connection": _, "proxy-authorization": __, ...headers } = incoming.headers;
  const { method } = incoming;
  const path = `${url.pathname}${url.search}`;
  const outgoing = request(
    { ...target, method, path, headers: { ...headers, host: url.host }, timeout: 0 },
    (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    },
  );
  outgoing.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.once("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}
