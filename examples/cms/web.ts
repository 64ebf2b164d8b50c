// The example's requests never leave this machine: addresses under `.example`, which nobody can register, are
// fetched from the loopback server, and every other address is refused.
import { createGuardedFetch, type GuardedFetch, problem } from "keyhole";
import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";

export interface WebAnswer {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface Web {
  /** Returns any answer, whatever its status. */
  send(url: string, request?: Parameters<GuardedFetch>[1]): Promise<WebAnswer>;
  /** Returns the body of a successful answer. Throws CALL_FAILED otherwise. */
  read(url: string, request?: Parameters<GuardedFetch>[1]): Promise<WebAnswer>;
  reset(): void;
  close(): Promise<void>;
}

interface Opened {
  readonly server: LoopbackServer;
  readonly fetch: GuardedFetch;
}

const MAX_BYTES = 200_000;

/** The first request starts the server. */
export function createWeb(): Web {
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;

  async function open(): Promise<Opened> {
    const server = await startLoopbackServer();
    opened = { server, fetch: createGuardedFetch({ allowPrivateHosts: [new URL(server.url).host] }) };
    return opened;
  }

  async function send(url: string, request: Parameters<GuardedFetch>[1] = {}): Promise<WebAnswer> {
    const { hostname, pathname, search } = siteOf(url);
    opening ??= open();
    const { server, fetch } = await opening;
    const response = await fetch(`${server.url}/${hostname}${pathname}${search}`, request);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.length > MAX_BYTES) {
      throw problem("LIMIT_EXCEEDED", { what: "The answer", actual: bytes.length, limit: MAX_BYTES });
    }
    return {
      url,
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      text: bytes.toString(),
    };
  }

  return {
    send,
    async read(url, request) {
      const answer = await send(url, request);
      if (answer.status < 400) return answer;
      const advice = "Check the address; search for it where it was guessed.";
      throw problem("CALL_FAILED", {
        name: url,
        reason: `${answer.status} ${answer.text.slice(0, 200)}`,
        advice,
      });
    },
    reset: () => opened?.server.reset(),
    async close() {
      const { server, fetch } = (await opening) ?? {};
      await fetch?.close();
      server?.close();
    },
  };
}

function siteOf(url: string): URL {
  const where = URL.canParse(url) ? new URL(url) : undefined;
  if (where?.protocol === "https:" && where.hostname.endsWith(".example")) return where;
  const reason =
    "this example reaches the sites of its loopback server only, such as https://weather.example";
  throw problem("REQUEST_REFUSED", { where: where?.host ?? "it", reason });
}
