// A site on this machine that starts with the first request, and the guarded fetch that reaches it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createGuardedFetch, type GuardedFetch, problem } from "keyhole";
import { toHtml } from "./html.ts";
import { PAGES } from "./pages.ts";

export interface Web {
  /** Reads an address, or a path of the site. */
  read(url: string, signal: AbortSignal): Promise<{ address: string; status: number; body: string }>;
  close(): Promise<void>;
}

interface Site {
  readonly server: Server;
  readonly origin: string;
  readonly fetch: GuardedFetch;
}

const MOST_BYTES = 1_000_000;

export function createWeb(): Web {
  let starting: Promise<Site> | undefined;
  return {
    async read(url, signal) {
      starting ??= startSite();
      const { fetch, origin } = await starting;
      if (!URL.canParse(url, origin))
        throw problem("REQUEST_REFUSED", { where: url, reason: "it is not a URL" });
      const address = String(new URL(url, origin));
      const response = await fetch(address, { signal });
      return { address, status: response.status, body: await bounded(response.body) };
    },
    async close() {
      const site = await starting;
      starting = undefined;
      await site?.fetch.close();
      site?.server.close();
    },
  };
}

async function startSite(): Promise<Site> {
  const server = createServer((request, response) => {
    const { status, type, body } = answer(new URL(request.url ?? "/", "http://site"));
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, origin: `http://${host}`, fetch: createGuardedFetch({ allowPrivateHosts: [host] }) };
}

function answer(url: URL): { status: number; type: string; body: string } {
  if (url.pathname === "/search")
    return { status: 200, type: "application/json", body: JSON.stringify(found(url)) };
  const page = Object.hasOwn(PAGES, url.pathname) ? PAGES[url.pathname] : undefined;
  if (!page) return { status: 404, type: "text/html", body: toHtml("Not found", ["There is no such page."]) };
  return { status: 200, type: "text/html", body: toHtml(page.title, page.paragraphs) };
}

/** Ranks pages by how many of the words they have. */
function found({ searchParams }: URL) {
  const words = (searchParams.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const hits = Object.entries(PAGES).map(([url, { title, paragraphs }]) => {
    const text = [title, ...paragraphs].join(" ").toLowerCase();
    return { url, title, excerpt: paragraphs[0], score: words.filter((word) => text.includes(word)).length };
  });
  const best = hits.filter(({ score }) => score > 0).sort((left, right) => right.score - left.score);
  return { results: best.slice(0, Number(searchParams.get("limit"))).map(({ score, ...hit }) => hit) };
}

async function bounded(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MOST_BYTES)
      throw problem("LIMIT_EXCEEDED", { what: "The page", actual: "larger", limit: `${MOST_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
