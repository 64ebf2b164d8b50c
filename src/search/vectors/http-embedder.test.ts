import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpEmbedder, type HttpEmbedderOptions } from "./http-embedder.ts";

interface Seen {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: { model: string; input: string[]; dimensions?: number };
}
type Handler = (seen: Seen, response: ServerResponse) => void;

const KEY = "sk-very-secret-key-abcdwxyz";
let server: Server;
let url: string;
let requests: Seen[];
let handle: Handler;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const seen = await read(request);
    requests.push(seen);
    handle(seen, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  handle = answerOpenAi;
});

describe("HTTP embedder", () => {
  it("speaks to an OpenAI-compatible server, in batches, in any order of its answer", async () => {
    const embedder = open({ batchSize: 2, dimensions: 2 });
    const vectors = await embedder.embed(["one", "three", "fourteen"]);
    expect(vectors.map(([first, second]) => Math.round(first! / second!))).toEqual([3, 5, 8]);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(requests.map(({ body }) => body.input)).toEqual([["one", "three"], ["fourteen"]]);
    expect(requests[0]).toMatchObject({
      path: "/v1/embeddings",
      authorization: `Bearer ${KEY}`,
      body: { model: "tiny", encoding_format: "float", dimensions: 2 },
    });
  });

  it("speaks to Ollama, and learns the dimensions", async () => {
    handle = ({ body }, response) => send(response, 200, { embeddings: body.input.map(() => [3, 0, 4]) });
    const embedder = createHttpEmbedder({ kind: "ollama", url, model: "tiny" });
    expect(embedder.dimensions).toBe(0);
    const [vector] = await embedder.embed(["text"]);
    expect([...vector!]).toEqual([Math.fround(0.6), 0, Math.fround(0.8)]);
    expect(embedder.dimensions).toBe(3);
    expect(requests[0]).toMatchObject({ path: "/api/embed", authorization: undefined });
  });

  it.each(["", "/", "/v1", "/v1/", "/v1/embeddings"])(
    "finds the endpoint from an address with %j",
    async (path) => {
      await open({ url: `${url}${path}` }).embed(["text"]);
      expect(requests[0]!.path).toBe("/v1/embeddings");
    },
  );

  it("gives zeroes for an empty text and cuts a long one", async () => {
    const [empty, long] = await open().embed([" ", "a".repeat(100_000)]);
    expect([...empty!]).toEqual([0, 0]);
    expect(long).toHaveLength(2);
    expect(requests[0]!.body.input.map((text) => text.length)).toEqual([1, 8000]);
  });

  it.each([429, 500, 503])("tries again after %i", async (status) => {
    handle = (seen, response) => {
      if (requests.length > 2) answerOpenAi(seen, response);
      else send(response, status, {}, { "retry-after": "0" });
    };
    await expect(open().embed(["text"])).resolves.toHaveLength(1);
    expect(requests).toHaveLength(3);
  });

  it("gives up after three retries, waiting longer each time", async () => {
    handle = (_, response) => send(response, 503, { error: { message: "overloaded" } });
    const start = performance.now();
    await expect(open({ backoffMs: 20 }).embed(["text"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("503: overloaded"),
    });
    expect(requests).toHaveLength(4);
    expect(performance.now() - start).toBeGreaterThanOrEqual(20 + 40 + 80 - 5);
  });

  it.each([400, 401, 404, 302])("does not repeat what was answered by %i", async (status) => {
    handle = (_, response) => send(response, status, {}, { location: `${url}/elsewhere` });
    await expect(open().embed(["text"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(requests).toHaveLength(1);
  });

  it("stops waiting when the time is over", async () => {
    handle = () => {};
    await expect(open({ timeoutMs: 50 }).embed(["text"])).rejects.toMatchObject({ code: "TIMEOUT" });
    handle = (_, response) => void response.writeHead(200).write("{");
    await expect(open({ timeoutMs: 50 }).embed(["text"])).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("says when nobody listens", async () => {
    const closed = open({ url: "http://127.0.0.1:1" });
    await expect(closed.embed(["text"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("server_down"),
    });
  });

  it.each<[string, unknown]>([
    ["not JSON", "<html>"],
    ["no embeddings", { data: {} }],
    ["no embeddings", null],
    ["2 vectors for 1", { data: [{ embedding: [1] }, { embedding: [1] }] }],
    ["missing or empty", { data: [{ index: 0 }] }],
    ["missing or empty", { data: [{ index: 7, embedding: [1, 2] }] }],
    ["missing or empty", { data: [{ index: "constructor", embedding: [1, 2] }] }],
    ["not a number", { data: [{ index: 0, embedding: [1, "2"] }] }],
    ["3 dimensions where 2", { data: [{ index: 0, embedding: [1, 2, 3] }] }],
  ])("says %j of a malformed answer", async (message, answer) => {
    handle = (_, response) => send(response, 200, answer);
    await expect(open({ dimensions: 2 }).embed(["text"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(message),
    });
  });

  it("never shows the key, even if the server repeats it", async () => {
    for (const status of [400, 401, 500]) {
      for (const said of [KEY, `wrong key ${KEY.slice(0, 6)}***`, `…${KEY.slice(-4)}`]) {
        handle = (_, response) => send(response, status, { error: { message: said } });
        const error: unknown = await open({ backoffMs: 1 })
          .embed(["text"])
          .catch((raised: unknown) => raised);
        expect(`${JSON.stringify(error)} ${String(error)}`).not.toMatch(/sk-ver|wxyz/);
      }
    }
    expect(open().id).not.toContain("secret");
  });

  it("refuses addresses that it cannot post to", () => {
    for (const address of ["", "file:///etc/passwd", "http://user:password@host"]) {
      expect(() => open({ url: address })).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    }
  });
});

function open(options: Partial<HttpEmbedderOptions> = {}) {
  return createHttpEmbedder({ kind: "openai", url, model: "tiny", apiKey: KEY, ...options });
}

/** The vector of a text is its length and one; the last comes first. */
function answerOpenAi({ body }: Seen, response: ServerResponse): void {
  const data = body.input.map((text, index) => ({ index, embedding: [text.length, 1] }));
  send(response, 200, { data: data.reverse() });
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return {
    path: request.url ?? "",
    authorization: request.headers.authorization,
    body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
  };
}
