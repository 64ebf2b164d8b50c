// The HTTP API of a small library on loopback, which requires a token.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

const BOOKS = new Map([
  ["978-0", { isbn: "978-0", title: "Small Gods", author: "Pratchett", shelf: "fiction", lentTo: "" }],
  ["978-1", { isbn: "978-1", title: "Cosmos", author: "Sagan", shelf: "science", lentTo: "" }],
]);

/** Starts the API. `requests` has the request lines so far. */
export async function startLibrary(token: string) {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    const [status, body] = isKnown
      ? answer(request, await bodyOf(request))
      : [401, { message: "who are you?" }];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/api`, requests, close: () => server.close() };
}

function answer(request: IncomingMessage, body: string): [status: number, body: unknown] {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://library");
  const [, , , isbn = "", loans] = pathname.split("/");
  if (isbn === "") {
    const shelves = searchParams.getAll("shelf");
    return [200, [...BOOKS.values()].filter(({ shelf }) => shelves.length === 0 || shelves.includes(shelf))];
  }
  const book = BOOKS.get(decodeURIComponent(isbn));
  if (!book) return [404, { message: `no book ${isbn}` }];
  if (loans === undefined) return [200, book];
  if (book.lentTo !== "") return [409, { message: `${book.title} is lent to ${book.lentTo}` }];
  const { reader, days = 28 } = JSON.parse(body);
  book.lentTo = reader;
  return [201, { id: 1, reader, days }];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
