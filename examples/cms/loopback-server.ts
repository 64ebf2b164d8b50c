// A very small web, served from this process on 127.0.0.1: stock photos, a search engine, a few articles, a
// weather service and a newsletter. The first segment of a path names the site: /weather.example/today.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ARTICLES, PHOTOS } from "./seed/web.ts";

export interface LoopbackServer {
  /** Has no trailing slash. */
  readonly url: string;
  /** Forgets all posted data. */
  reset(): void;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const MAX_BODY = 10_000;

export async function startLoopbackServer(): Promise<LoopbackServer> {
  const subscribers = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    const { status, type, body: text } = body === undefined ? plain(413, "too long") : route(request, body);
    response.writeHead(status, { "content-type": type, connection: "close" }).end(text);
  });

  function route(request: IncomingMessage, body: string): Answer {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://loopback");
    const [, site = "", ...rest] = pathname.split("/");
    const path = rest.join("/");
    if (site === "newsletter.example") return subscribe(request.method, path, body, subscribers);
    if (request.method !== "GET") return plain(405, "only GET here");
    if (site === "api.pexels.example") return pexels(path, searchParams);
    if (site === "images.pexels.example") return picture(path);
    if (site === "search.example") return json(200, { results: searchArticles(searchParams.get("q") ?? "") });
    if (site === "weather.example" && path === "today") {
      return json(200, { city: searchParams.get("city") ?? "Bergen", celsius: 7, sky: "rain", snow_cm: 0 });
    }
    const article = ARTICLES.find(({ url }) => url === `https://${site}/${path}`);
    return article ? html(article.title, article.paragraphs) : plain(404, "no such page");
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Do not keep the process alive if an example forgets to close.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    reset: () => subscribers.clear(),
    close: () => void server.close(),
  };
}

function pexels(path: string, params: URLSearchParams): Answer {
  if (path === "v1/search") {
    const wanted = wordsOf(params.get("query") ?? "");
    const fitting = PHOTOS.filter(({ alt }) => wordsOf(alt).some((word) => wanted.includes(word)));
    const most = Math.min(Number(params.get("per_page") ?? 10) || 10, 80);
    return json(200, { total_results: fitting.length, photos: fitting.slice(0, most) });
  }
  const photo = PHOTOS.find(({ id }) => path === `v1/photos/${id}`);
  return photo ? json(200, photo) : json(404, { error: "no such photo" });
}

/** Pictures are drawn, not photographed: enough to be downloaded. */
function picture(path: string): Answer {
  const photo = PHOTOS.find(({ id }) => path === `${id}.svg`);
  if (!photo) return plain(404, "no such picture");
  const body = `<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><title>${photo.alt}</title></svg>`;
  return { status: 200, type: "image/svg+xml", body };
}

function subscribe(method: string | undefined, path: string, body: string, subscribers: Set<string>): Answer {
  if (method !== "POST" || path !== "subscribers") return plain(404, "POST /subscribers");
  let email: unknown;
  try {
    email = JSON.parse(body)?.email;
  } catch {
    return json(400, { error: "the body is not JSON" });
  }
  if (typeof email !== "string" || !email.includes("@")) return json(422, { error: "email is needed" });
  if (subscribers.has(email)) return json(409, { error: "already subscribed" });
  subscribers.add(email);
  return json(201, { subscriber: subscribers.size, email });
}

/** Articles that share a word with the query, those that share most first. */
function searchArticles(query: string) {
  const wanted = new Set(wordsOf(query));
  return ARTICLES.map(({ url, title, paragraphs }) => {
    const words = new Set(wordsOf([title, ...paragraphs].join(" ")));
    return {
      url,
      title,
      snippet: paragraphs[0] ?? "",
      shared: [...wanted].filter((word) => words.has(word)).length,
    };
  })
    .filter(({ shared }) => shared > 0)
    .sort((one, other) => other.shared - one.shared)
    .map(({ shared: _, ...result }) => result);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
}

function html(title: string, paragraphs: readonly string[]): Answer {
  const body = `<!doctype html><html><head><title>${title}</title><style>p { margin: 1em }</style></head>
<body><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join("\n")}</body></html>`;
  return { status: 200, type: "text/html; charset=utf-8", body };
}

function json(status: number, value: unknown): Answer {
  return { status, type: "application/json", body: JSON.stringify(value) };
}

function plain(status: number, body: string): Answer {
  return { status, type: "text/plain", body };
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
