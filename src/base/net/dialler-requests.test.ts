import { getEventListeners, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { createDialler, type Dialler, type GuardedRequest, guardedLookup } from "./dialler.ts";
import { isCut } from "./status-problem.ts";

let server: Server;
let url: URL;
let dialler: Dialler;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const looked: string[] = [];
const lookup: LookupFunction = (host, options, done) => {
  looked.push(host);
  if (options.all) done(null, [{ address: "127.0.0.1", family: 4 }]);
  else done(null, "127.0.0.1", 4);
};

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://shop.example:${(server.address() as AddressInfo).port}/path?a=1`);
  dialler = createDialler(lookup);
});
afterAll(async () => {
  dialler.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("a request", () => {
  interface Echo {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  const echoed = async (request: GuardedRequest) => (await (await dialler.send(url, request)).json()) as Echo;
  const echo = () => {
    answer = async (request, response) => {
      const body = (await Array.fromAsync(request, String)).join("");
      const { method, url: path, headers } = request;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ method, path, headers, body }));
    };
  };

  test("goes to the address that the lookup gives, with the defaults of a client", async () => {
    echo();
    const got = await echoed({});
    expect(looked).toContain("shop.example");
    expect(got).toMatchObject({ method: "GET", path: "/path?a=1", body: "" });
    expect(got.headers).toMatchObject({
      host: url.host,
      accept: "*/*",
      "accept-encoding": "gzip, deflate, br",
      "user-agent": "keyhole",
    });
    expect(got.headers).not.toHaveProperty("content-length");
  });

  test("has the caller's headers in place of the defaults", async () => {
    echo();
    const headers = { accept: "text/csv", "x-own": "1" };
    const got = await echoed({ headers });
    expect(got.headers).toMatchObject({ accept: "text/csv", "x-own": "1", "user-agent": "keyhole" });
  });

  test.each<[string, string | Uint8Array<ArrayBuffer>, string, number]>([
    ["text", "ä", "ä", 2],
    ["bytes", new TextEncoder().encode("abc"), "abc", 3],
    ["an empty text", "", "", 0],
  ])("sends %s with its length in bytes", async (_, body, received, length) => {
    echo();
    const got = await echoed({ method: "POST", body });
    expect(got).toMatchObject({ body: received, headers: { "content-length": String(length) } });
  });

  test("that deletes has its length too, or the host would not read its body", async () => {
    echo();
    const got = await echoed({ method: "DELETE", body: "[1]" });
    expect(got).toMatchObject({ method: "DELETE", body: "[1]", headers: { "content-length": "3" } });
  });

  test("to an IPv6 address looks up no name", async () => {
    looked.length = 0;
    await dialler.send(new URL("http://[::1]:1/"), {}).catch(() => {});
    expect(looked).toEqual([]);
  });

  test("that is cancelled tells why", async () => {
    const stop = new AbortController();
    answer = () => stop.abort("no longer needed");
    await expect(dialler.send(url, { signal: stop.signal })).rejects.toMatchObject({
      message: "The request was cancelled",
      cause: "no longer needed",
    });
  });

  test("is not sent if its signal is aborted", async () => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.end();
    };
    await expect(dialler.send(url, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(asked).toBe(0);
  });

  test.each([
    ["has not been answered", () => {}],
    [
      "has half an answer",
      (response: ServerResponse) =>
        void response.writeHead(200, { "content-type": "application/json" }).write("["),
    ],
  ])("that %s hangs up when its signal is aborted", async (_, begin) => {
    const stop = new AbortController();
    const left = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.once("close", resolve);
        begin(response);
        setImmediate(() => stop.abort());
      };
    });
    await expect(dialler.send(url, { signal: stop.signal })).rejects.toThrow();
    await left;
  });

  test("leaves its signal when it has been answered", async () => {
    echo();
    const { signal } = new AbortController();
    for (let count = 0; count < 3; count++) await echoed({ signal });
    await expect.poll(() => getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("an answer", () => {
  const body = "x".repeat(1_000);

  test("keeps its status, its words and every header", async () => {
    answer = (_, response) =>
      response.writeHead(418, "Short and stout", { "set-cookie": ["a=1", "b=2"], "x-one": "1" }).end("tea");
    const response = await dialler.send(url, {});
    expect([response.status, response.statusText]).toEqual([418, "Short and stout"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-one")).toBe("1");
    expect(await response.text()).toBe("tea");
  });

  test.each([
    ["x-gzip", gzipSync(body), body],
    ["GZIP", gzipSync(body), body],
    ["identity", Buffer.from(body), body],
    ["unknown", Buffer.from(body), body],
  ])("in %s is unpacked as far as that is known", async (encoding, bytes, text) => {
    for (const type of ["application/json", "text/plain"]) {
      answer = (_, response) =>
        response.writeHead(200, { "content-type": type, "content-encoding": encoding }).end(bytes);
      expect(await (await dialler.send(url, {})).text()).toBe(text);
    }
  });

  test.each([
    ["application/json", 65_536, "65536"],
    ["Application/JSON; charset=utf-8", 10, "10"],
    ["application/json", 65_537, null],
    ["application/jsonl", 10, null],
    ["text/application/json", 10, null],
  ])("of %s and %i bytes has the length %s", async (type, size, length) => {
    answer = (_, response) => {
      response.writeHead(200, { "content-type": type });
      response.flushHeaders();
      response.end("x".repeat(size));
    };
    const response = await dialler.send(url, {});
    expect(response.headers.get("content-length")).toBe(length);
    expect(await response.text()).toHaveLength(size);
  });

  test("of packed JSON that was read whole has the length of its text and no encoding", async () => {
    const packed = gzipSync(body);
    answer = (_, response) =>
      response
        .writeHead(200, {
          "content-type": "application/json",
          "content-encoding": "gzip",
          "content-length": packed.length,
          "x-one": "1",
        })
        .end(packed);
    const { headers } = await dialler.send(url, {});
    const { date: _, connection: __, "keep-alive": ___, ...others } = Object.fromEntries(headers);
    expect(others).toEqual({ "content-type": "application/json", "content-length": "1000", "x-one": "1" });
  });

  test("of large JSON that comes in many parts is complete, also if it is read late", async () => {
    const parts = Array.from({ length: 40 }, (_, at) => String.fromCharCode(97 + (at % 26)).repeat(9_000));
    answer = async (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      for (const part of parts) {
        response.write(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const response = await dialler.send(url, {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await response.text()).toBe(parts.join(""));
  });

  test("of large JSON keeps its status, its words and its headers", async () => {
    answer = (_, response) => {
      const headers = { "content-type": "application/json", "x-one": "1" };
      response.writeHead(404, "Nowhere", headers).end("x".repeat(100_000));
    };
    const response = await dialler.send(url, {});
    expect([response.status, response.statusText]).toEqual([404, "Nowhere"]);
    expect(response.headers.get("x-one")).toBe("1");
    expect(await response.text()).toHaveLength(100_000);
  });

  test("with no words for its status has none", async () => {
    answer = (request) => void request.socket.write("HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n");
    expect((await dialler.send(url, {})).statusText).toBe("");
  });

  test("that was packed more than once is passed on as it is", async () => {
    const packed = gzipSync(gzipSync(body));
    answer = (_, response) =>
      response.writeHead(200, ["content-encoding", "gzip", "content-encoding", "gzip"]).end(packed);
    const response = await dialler.send(url, {});
    expect(response.headers.get("content-encoding")).toBe("gzip, gzip");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(packed);
  });

  test.each([
    ["HEAD", 200],
    ["GET", 204],
  ])("to %s with status %i lets the next request have its connection", async (method, status) => {
    const sockets = new Set<unknown>();
    answer = (request, response) => {
      sockets.add(request.socket);
      response.writeHead(status, status === 200 ? { "content-length": 0 } : {}).end();
    };
    const own = createDialler(lookup);
    onTestFinished(() => own.close());
    for (let count = 0; count < 3; count += 1) {
      await own.send(url, { method });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(sockets.size).toBe(1);
  });

  test("of JSON that is large can be aborted while it is read", async () => {
    const stop = new AbortController();
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("x".repeat(100_000));
    };
    const response = await dialler.send(url, { signal: stop.signal });
    stop.abort();
    await expect(response.text()).rejects.toMatchObject({ name: "AbortError" });
  });

  test("that is no HTTP names the host and what to check", async () => {
    answer = (request) =>
      void request.socket.write("HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    await expect(dialler.send(url, {})).rejects.toMatchObject({
      code: "CALL_FAILED",
      message: expect.stringMatching(/shop\.example.*it did not answer in HTTP/),
      next: expect.stringContaining("Check that the address belongs to an HTTP server."),
    });
  });
});

describe("the time to connect", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("is over once connected: the answer may take longer, also on a connection that is used again", async () => {
    const own = createDialler(lookup);
    onTestFinished(() => own.close());
    for (const text of ["one", "two"]) {
      const asked = Promise.withResolvers<ServerResponse>();
      answer = (_, response) => asked.resolve(response);
      const sent = own.send(url, {});
      const response = await asked.promise;
      expect(vi.getTimerCount()).toBe(0);
      await vi.advanceTimersByTimeAsync(60_000);
      response.end(text);
      expect(await (await sent).text()).toBe(text);
    }
  });

  test("is over if the connection fails", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await expect(dialler.send(new URL(`http://shop.example:${port}/`), {})).rejects.toThrow("ECONNREFUSED");
    for (let turn = 0; turn < 100 && vi.getTimerCount() > 0; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a closed dialler lets its connections go", async () => {
  answer = (_, response) => response.end("x");
  const own = createDialler(lookup);
  await (await own.send(url, {})).text();
  const open = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  const before = await open();
  own.close();
  await expect.poll(open).toBe(Number(before) - 1);
});

test.each([
  ["ECONNRESET", true],
  ["EPIPE", true],
  ["ECONNREFUSED", false],
  [undefined, false],
])("%s means that the host closed the connection: %s", (code, isIt) => {
  expect(isCut(code)).toBe(isIt);
});

describe("a guarded lookup", () => {
  const refuseTens = (address: string) => (address.startsWith("10.") ? "is inside" : undefined);
  const answersOf = (found: Parameters<Parameters<LookupFunction>[2]>) =>
    new Promise<unknown[]>((resolve) => {
      const inner: LookupFunction = (_host, _options, done) => done(...found);
      guardedLookup(refuseTens, inner)("shop.example", {}, (...given) => resolve(given));
    });

  test("passes on what the check accepts, and failures as they are", async () => {
    expect(await answersOf([null, "8.8.8.8", 4])).toEqual([null, "8.8.8.8", 4]);
    const several = [{ address: "8.8.8.8", family: 4 }];
    expect(await answersOf([null, several])).toEqual([null, several, undefined]);
    const failure = new Error("not found");
    expect((await answersOf([failure, "10.0.0.1", 4]))[0]).toBe(failure);
  });

  test("refuses an address with its reason, alone or among others", async () => {
    const refusal = {
      code: "REQUEST_REFUSED",
      message: expect.stringMatching(/shop\.example.*its address 10\.0\.0\.1 is inside/),
    };
    expect((await answersOf([null, "10.0.0.1", 4]))[0]).toMatchObject(refusal);
    const several = ["8.8.8.8", "10.0.0.1"].map((address) => ({ address, family: 4 }));
    expect((await answersOf([null, several]))[0]).toMatchObject(refusal);
  });
});
