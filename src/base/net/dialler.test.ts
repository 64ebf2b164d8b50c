import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { isProblem } from "../problems/problem.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

let server: Server;
let url = "";
let connections = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
beforeEach(() => {
  connections = 0;
});
afterAll(async () => {
  await guarded.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("bodies", () => {
  const PACKED = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  const packings = Object.keys(PACKED) as (keyof typeof PACKED)[];

  test.each(packings)("unpacks %s, small and large, JSON and text", async (packing) => {
    for (const size of [10, 300_000]) {
      for (const type of ["application/json", "text/plain"]) {
        const text = JSON.stringify({ text: "ä".repeat(size) });
        answer = (request, response) => {
          expect(request.headers["accept-encoding"]).toContain(packing);
          response.writeHead(200, { "content-type": type, "content-encoding": packing });
          response.end(PACKED[packing](text));
        };
        expect(await (await guarded(url)).text()).toBe(text);
      }
    }
  });

  test("joins JSON that arrives in many pieces", async () => {
    for (const count of [1, 7, 5_000]) {
      const value = Array.from({ length: count }, (_, index) => ({ index, text: "some words" }));
      answer = (_, response) => {
        response.writeHead(200, JSON_TYPE);
        const text = JSON.stringify(value);
        for (let at = 0; at < text.length; at += 1_000) response.write(text.slice(at, at + 1_000));
        response.end();
      };
      expect(await (await guarded(url)).json()).toEqual(value);
    }
  });

  test("sets the length of JSON that was read whole", async () => {
    answer = (_, response) => response.writeHead(200, JSON_TYPE).end('{"text":"ä"}');
    const { headers } = await guarded(url);
    expect([headers.get("content-length"), headers.get("content-encoding")]).toEqual(["13", null]);
  });

  test("passes a stream on part by part", async () => {
    let more = () => {};
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: one\n\n");
      more = () => response.end("data: two\n\n");
    };
    const reader = (await guarded(url)).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe("data: one\n\n");
    more();
    expect((await reader.read()).value).toBe("data: two\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  test.each([204, 205, 304])("gives %i a null body", async (status) => {
    answer = (_, response) => response.writeHead(status).end();
    const response = await guarded(url);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  test("answers HEAD with headers only", async () => {
    answer = (_, response) => response.writeHead(200, { ...JSON_TYPE, "content-length": 5 }).end();
    const response = await guarded(url, { method: "HEAD" });
    expect([response.headers.get("content-length"), await response.text()]).toEqual(["5", ""]);
  });
});

describe("failures", () => {
  const breakOff = (type: string) => {
    answer = (_, response) => {
      response.writeHead(200, { "content-type": type, "content-length": 1_000 });
      response.write('{"a":', () => response.destroy());
    };
  };

  test("JSON that breaks off is a problem with the network code", async () => {
    breakOff("application/json");
    const caught: unknown = await guarded(url).catch((error: unknown) => error);
    expect(isProblem(caught) && [caught.code, caught.details.network]).toEqual(["CALL_FAILED", "ECONNRESET"]);
  });

  test("text that breaks off fails its reader", async () => {
    breakOff("text/plain");
    const response = await guarded(url);
    await expect(response.text()).rejects.toThrow();
  });

  test("a compressed body that breaks off is never taken for the whole", async () => {
    answer = (_, response) => {
      response.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" });
      response.write(gzipSync('{"a":1}').subarray(0, 12), () => response.destroy());
    };
    const caught: unknown = await guarded(url).catch((error: unknown) => error);
    expect(isProblem(caught) && caught.code).toBe("CALL_FAILED");
  });

  test("a status outside of HTTP is a problem", async () => {
    answer = (request) => void request.socket.end("HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n");
    const caught: unknown = await guarded(url).catch((error: unknown) => error);
    expect(isProblem(caught) && caught.code).toBe("CALL_FAILED");
  });

  test("an upgrade to another protocol is a problem", async () => {
    answer = (request) =>
      void request.socket.write("HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    const caught: unknown = await guarded(url).catch((error: unknown) => error);
    expect(isProblem(caught) && caught.message).toContain("did not answer in HTTP");
  });

  test("an unusable answer closes its connection", async () => {
    let closed = false;
    answer = (request) => {
      request.socket.once("close", () => {
        closed = true;
      });
      request.socket.write(`HTTP/1.1 999 Odd\r\ncontent-length: 200000\r\n\r\n${"x".repeat(200_000)}`);
    };
    await expect(guarded(url)).rejects.toThrow();
    await expect.poll(() => closed).toBe(true);
  });

  test("a silent TLS handshake times out", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const taken = Promise.withResolvers<void>();
    const mute = createNetServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => taken.resolve());
    });
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const reached = guarded(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`);
    const caught = reached.catch((error: unknown) => error);
    await taken.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(await caught).toMatchObject({
      code: "CALL_FAILED",
      message: expect.stringMatching(/127\.0\.0\.1.*it could not be reached in time/),
      next: expect.stringContaining("Check that the host is up and its name is right."),
      details: { network: "ETIMEDOUT" },
    });
    mute.close();
  });

  test("a signal aborts an answer that has begun", async () => {
    const stop = new AbortController();
    let hungUp = false;
    answer = (_, response) => {
      response.on("close", () => {
        hungUp = true;
      });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: one\n\n");
    };
    const response = await guarded(url, { signal: stop.signal });
    const reader = response.body!.getReader();
    await reader.read();
    stop.abort();
    await expect(reader.read()).rejects.toThrow(/abort/i);
    await expect.poll(() => hungUp).toBe(true);
    await expect(guarded(url, { signal: stop.signal })).rejects.toThrow(/abort/i);
  });
});

describe("connections", () => {
  test("are reused by sequential requests", async () => {
    answer = (_, response) => response.writeHead(200, JSON_TYPE).end("{}");
    for (let count = 0; count < 5; count++) expect(await (await guarded(url)).json()).toEqual({});
    expect(connections).toBeLessThanOrEqual(1);
  });

  describe("that the host closes while they are reused", () => {
    const sent: string[] = [];
    const used = new WeakSet<object>();
    const closeIdle = () => {
      sent.length = 0;
      answer = (request, response) => {
        sent.push(String(request.method));
        if (used.has(request.socket)) return void request.socket.destroy();
        used.add(request.socket);
        response.writeHead(200, JSON_TYPE).end("{}");
      };
    };
    test.each(["GET", "HEAD"])("are replaced for %s", async (method) => {
      closeIdle();
      await guarded(url);
      expect((await guarded(url, { method })).status).toBe(200);
      expect(sent.slice(-2)).toEqual([method, method]);
    });

    test("are not replaced once the answer has begun", async () => {
      closeIdle();
      await guarded(url);
      answer = (request, response) => {
        sent.push(String(request.method));
        response.writeHead(200, { ...JSON_TYPE, "content-length": 9 });
        response.write('{"a":', () => response.destroy());
      };
      await expect(guarded(url)).rejects.toThrow(/ECONNRESET/);
      expect(sent).toEqual(["GET", "GET"]);
    });

    test("never send a write twice", async () => {
      closeIdle();
      await guarded(url);
      await expect(guarded(url, { method: "POST", body: "{}" })).rejects.toThrow(/ECONNRESET/);
      expect(sent.filter((method) => method === "POST")).toHaveLength(1);
    });
  });

  test("carry each answer to its own request", async () => {
    answer = (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () =>
        setImmediate(() => response.writeHead(200, JSON_TYPE).end(Buffer.concat(chunks))),
      );
    };
    const asked = Array.from({ length: 100 }, (_, index) => ({ index, text: "ü".repeat(index) }));
    const answered = await Promise.all(
      asked.map(async (value) =>
        (await guarded(url, { method: "POST", body: JSON.stringify(value) })).json(),
      ),
    );
    expect(answered).toEqual(asked);
  });
});
