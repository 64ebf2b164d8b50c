import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { isProblem, problem } from "../problems/problem.ts";
import type { Dialler, GuardedRequest } from "./dialler.ts";

/** Exceptions to the rule that a {@link GuardedFetch} reaches only public hosts over https. */
export interface GuardOptions {
  /** Hosts, as `name` or `name:port`, that may have private addresses and need no TLS. */
  readonly allowPrivateHosts?: readonly string[];
  /** An address configured by the owner. Its host and port may be private and without TLS. */
  readonly ownUrl?: string | URL;
  /**
   * Which redirects to follow. `same-origin`: within the origin. `public`: to any host that passes the checks, without
   * headers and without writes. `none`: return the redirect itself. Default: `same-origin`.
   */
  readonly redirects?: "same-origin" | "public" | "none";
  /** Whether public hosts may be reached without TLS. */
  readonly allowHttp?: boolean;
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: LookupFunction;
}

/** Sends requests within the limits of {@link createGuardedFetch}. */
export interface GuardedFetch {
  (url: string | URL, request?: GuardedRequest): Promise<Response>;
  /** Closes its connections. */
  close(): Promise<void>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Creates a fetch that reaches only public addresses over https. It checks the address of each connection, and every
 * redirect again. It ignores proxy settings of the environment.
 *
 * Calls reject with REQUEST_REFUSED if the guard refuses a URL, an address or a redirect, and with CALL_FAILED if the
 * host is unreachable or does not speak HTTP.
 * @example
 * ```ts
 * import { isProblem } from "keyhole";
 * import { createGuardedFetch } from "keyhole";
 *
 * const guarded = createGuardedFetch();
 * const refused = await guarded("http://127.0.0.1:8080/orders").catch((error) => error);
 * console.assert(isProblem(refused) && refused.code === "REQUEST_REFUSED");
 * await guarded.close();
 * ```
 */
export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const { allowPrivateHosts = [], ownUrl, redirects = "same-origin", allowHttp = false } = options;
  const ownHosts = ownUrl === undefined ? [] : [hostAndPort(toUrl(ownUrl))];
  const allowed = new Set([...allowPrivateHosts, ...ownHosts].map((host) => host.toLowerCase()));
  let opening: Promise<Diallers> | undefined;

  async function send(url: URL, request: GuardedRequest, hops: number): Promise<Response> {
    const reach = check(url, allowed, allowHttp);
    opening ??= openDiallers(options.lookup);
    const response = await dial(url, request, (await opening)[reach]);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null || redirects === "none") return response;
    await response.body?.cancel();
    if (hops >= MAX_REDIRECTS) throw refused(url, `it redirects more than ${MAX_REDIRECTS} times`);
    if (!URL.canParse(location, url)) throw refused(url, "it redirects to something that is not a URL");
    const next = new URL(location, url);
    return send(next, redirected(url, next, request, response.status, redirects), hops + 1);
  }

  return Object.assign(
    async (url: string | URL, request: GuardedRequest = {}) => send(toUrl(url), request, 0),
    {
      close: async () => {
        const diallers = await opening;
        diallers?.public.close();
        diallers?.private.close();
      },
    },
  );
}

interface Diallers {
  readonly public: Dialler;
  readonly private: Dialler;
}

/** Loads the diallers with the first request: many guarded fetches never send one. */
async function openDiallers(lookup: LookupFunction | undefined): Promise<Diallers> {
  const { createDialler, guardedLookup } = await import("./dialler.ts");
  return {
    public: createDialler(guardedLookup(addressRefusal, lookup)),
    private: createDialler(guardedLookup(namedAddressRefusal, lookup)),
  };
}

function toUrl(url: string | URL): URL {
  const parsed = URL.parse(String(url));
  if (!parsed) throw problem("REQUEST_REFUSED", { where: "it", reason: "it is not a URL" });
  return parsed;
}

/** Checks literal addresses here, because they need no lookup. Names are checked when dialled. */
function check(url: URL, allowed: ReadonlySet<string>, allowHttp: boolean): "public" | "private" {
  const spellings = [url.hostname, bare(url.hostname), hostAndPort(url)];
  const isAllowed = spellings.some((host) => allowed.has(host));
  if (url.username || url.password) throw refused(url, "its URL carries a user name or password");
  if (url.protocol !== "https:" && !((isAllowed || allowHttp) && url.protocol === "http:")) {
    throw refused(url, `${url.protocol.slice(0, -1)} is not allowed, only https`);
  }
  const address = bare(url.hostname);
  const refusal = isIP(address) && !isAllowed ? addressRefusal(address) : undefined;
  if (refusal !== undefined) throw refused(url, `its address ${address} ${refusal}`);
  return isAllowed ? "private" : "public";
}

async function dial(url: URL, request: GuardedRequest, dialler: Dialler): Promise<Response> {
  try {
    return await dialler.send(url, request);
  } catch (error) {
    request.signal?.throwIfAborted();
    if (isProblem(error)) throw error;
    // A name with several addresses fails with one error for each.
    const cause = error instanceof AggregateError ? error.errors[0] : error;
    const reason = cause instanceof Error ? `${codeOf(cause)}${cause.message}` : String(cause);
    const fills = {
      name: url.host,
      reason: `the connection failed: ${reason}`,
      advice:
        "Check that the host is up and its name is right; repeat a write only after reading its effect.",
    };
    throw problem("CALL_FAILED", fills, { network: codeOf(cause).trim() });
  }
}

function redirected(
  from: URL,
  to: URL,
  request: GuardedRequest,
  status: number,
  redirects: "same-origin" | "public",
): GuardedRequest {
  const { method = "GET", body, headers = {}, ...rest } = request;
  const isRead = method === "GET" || method === "HEAD";
  if (to.origin !== from.origin) {
    if (redirects === "same-origin") throw refused(from, `it redirects to another origin, ${to.origin}`);
    if (!isRead) throw refused(from, "it redirects a write to another origin");
    return { ...rest, method };
  }
  const becomesGet = !isRead && (status === 303 || (method === "POST" && status <= 302));
  if (!becomesGet) return { ...request, method };
  const remaining = Object.entries(headers).filter(([name]) => !/^content-/i.test(name));
  return { ...rest, method: "GET", headers: Object.fromEntries(remaining) };
}

function refused(url: URL, reason: string) {
  return problem("REQUEST_REFUSED", { where: url.host, reason });
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error) || !("code" in cause)) return "";
  // The code of a failed TLS handshake is that of the socket; only the message names the cause.
  const tls = /SSL routines:\w*:([a-z ]{1,60})/.exec(cause.message)?.[1]?.trim();
  return tls ? `ERR_SSL_${tls.toUpperCase().replaceAll(" ", "_")} ` : `${String(cause.code)} `;
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

function bare(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** Metadata services of cloud hosts in public address ranges. */
const METADATA = new Set(["168.63.129.16"]);
const GLOBAL_V6 = "2000::/3";
/** Ranges that are refused even for allowed hosts: no API runs there. */
const NEVER_BY_NAME = new Set([
  "linkLocal",
  "multicast",
  "broadcast",
  "unspecified",
  "reserved",
  "ipv4Mapped",
  "rfc6052",
]);

/** Why an address is not on the public internet. Undefined if it is. */
export function addressRefusal(address: string): string | undefined {
  const parsed = parse(address);
  if (parsed === undefined) return "is not an address";
  if (METADATA.has(address)) return "is a metadata service";
  const range = parsed.range();
  if (range !== "unicast") return `is a ${range} address`;
  if (parsed.kind() === "ipv6" && !parsed.match(ipaddr.parseCIDR(GLOBAL_V6)))
    return "is not a global address";
  return undefined;
}

/** Why an allowed host may not resolve to the address. Undefined if it may. */
export function namedAddressRefusal(address: string): string | undefined {
  const parsed = parse(address);
  if (parsed === undefined || METADATA.has(address)) return addressRefusal(address);
  return NEVER_BY_NAME.has(parsed.range()) ? `is a ${parsed.range()} address` : undefined;
}

/**
 * Whether a host is on this machine or its network.
 *
 * @throws REQUEST_REFUSED for addresses that are never needed, such as metadata services.
 */
export async function hasPrivateAddress(url: URL): Promise<boolean> {
  const name = bare(url.hostname);
  // A name without addresses fails with the request.
  const addresses = isIP(name) ? [{ address: name }] : await lookup(name, { all: true }).catch(() => []);
  for (const { address } of addresses) {
    const reason = namedAddressRefusal(address);
    if (reason !== undefined) throw refused(url, `its address ${address} ${reason}`);
  }
  return addresses.some(({ address }) => addressRefusal(address) !== undefined);
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  try {
    return ipaddr.parse(address);
  } catch {
    return undefined;
  }
}
