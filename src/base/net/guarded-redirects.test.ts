import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GuardedRequest } from "./dialler.ts";
import { createGuardedFetch, type GuardOptions } from "./guarded-fetch.ts";

/** A host that answers with what it was asked, and another one. */
let servers: Server[] = [];
let home = "";
let other = "";
let answer: (request: IncomingMessage, response: ServerResponse) => void;

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await Array.fromAsync(request, String);
  const { method, url, headers } = request;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ method, url, headers, body: body.join("") }));
}

beforeAll(async () => {
  servers = [createServer((request, response) => answer(request, response)), createServer(echo)];
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
  );
  [home = "", other = ""] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
});
beforeEach(() => {
  answer = echo;
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const redirect = (status: number, location: string | undefined) => {
  answer = (request, response) => {
    if (request.url !== "/start") return void echo(request, response);
    request.resume();
    response.writeHead(status, location === undefined ? {} : { location }).end("moved");
  };
};

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function fetched(url: string, request: GuardedRequest = {}, options: GuardOptions = {}): Promise<Echo> {
  const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"], ...options });
  try {
    return (await (await guarded(url, request)).json()) as Echo;
  } finally {
    await guarded.close();
  }
}

describe("a redirect within the origin", () => {
  const headers = {
    authorization: "Bearer x",
    "content-type": "text/plain",
    "Content-Language": "en",
    "x-content-of": "x",
  };

  test.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [301, "PUT", "PUT"],
    [302, "PUT", "PUT"],
    [303, "PUT", "GET"],
    [303, "GET", "GET"],
    [302, "GET", "GET"],
  ])("of %i turns %s into %s", async (status, method, then) => {
    redirect(status, "/there");
    const body = method === "GET" ? {} : { body: "text" };
    const got = await fetched(`${home}/start`, { method, headers, ...body });
    expect(got).toMatchObject({
      method: then,
      url: "/there",
      headers: { authorization: "Bearer x", "x-content-of": "x" },
    });
    const keepsBody = method !== "GET" && then === method;
    expect(got.body).toBe(keepsBody ? "text" : "");
    if (method !== then)
      expect(Object.keys(got.headers).filter((name) => /^content-/.test(name))).toEqual([]);
  });

  test("is followed without a method too", async () => {
    redirect(302, "there");
    expect(await fetched(`${home}/start`)).toMatchObject({ method: "GET", url: "/there" });
  });

  test("keeps HEAD as it is", async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (request.url === "/start") response.writeHead(303, { location: "/there" });
      response.end();
    };
    const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
    expect((await guarded(`${home}/start`, { method: "HEAD" })).status).toBe(200);
    await guarded.close();
    expect(seen).toEqual(["HEAD /start", "HEAD /there"]);
  });

  test("is followed five times, and refused then", async () => {
    const leadOn = (hops: number) => {
      answer = (request, response) => {
        const at = Number(request.url?.slice(1));
        if (at === hops) return void echo(request, response);
        response.writeHead(302, { location: `/${at + 1}` }).end();
      };
    };
    leadOn(5);
    expect(await fetched(`${home}/0`)).toMatchObject({ url: "/5" });
    leadOn(6);
    await expect(fetched(`${home}/0`)).rejects.toMatchObject({
      code: "REQUEST_REFUSED",
      message: expect.stringContaining("it redirects more than 5 times"),
    });
  });

  test.each([
    [302, undefined],
    [300, "/there"],
    [305, "/there"],
  ])("is not what %i to %s is", async (status, location) => {
    redirect(status, location);
    const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
    const response = await guarded(`${home}/start`);
    expect([response.status, await response.text()]).toEqual([status, "moved"]);
    await guarded.close();
  });
});

describe("a redirect to another origin", () => {
  const headers = { authorization: "Bearer x", cookie: "a=b" };

  test("is refused, and the refusal names it", async () => {
    redirect(302, `${other}/x`);
    await expect(fetched(`${home}/start`)).rejects.toMatchObject({
      message: expect.stringContaining(`it redirects to another origin, ${other}`),
    });
  });

  test.each(["GET", undefined])(
    "is followed where that is asked for, without the headers of %s",
    async (method) => {
      redirect(302, `${other}/x`);
      const got = await fetched(
        `${home}/start`,
        { headers, ...(method && { method }) },
        { redirects: "public" },
      );
      expect(got).toMatchObject({ method: "GET", url: "/x" });
      expect([got.headers.authorization, got.headers.cookie]).toEqual([undefined, undefined]);
    },
  );

  test("keeps HEAD as it is", async () => {
    redirect(302, `${other}/x`);
    const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"], redirects: "public" });
    const response = await guarded(`${home}/start`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    await guarded.close();
  });

  test.each([302, 303, 307])("takes no write along (%i)", async (status) => {
    redirect(status, `${other}/x`);
    const writing = fetched(`${home}/start`, { method: "POST", body: "x" }, { redirects: "public" });
    await expect(writing).rejects.toMatchObject({
      code: "REQUEST_REFUSED",
      message: expect.stringContaining("it redirects a write to another origin"),
    });
  });

  test("that is no URL is refused", async () => {
    redirect(302, "http://[");
    await expect(fetched(`${home}/start`)).rejects.toMatchObject({
      message: expect.stringContaining("it redirects to something that is not a URL"),
    });
  });
});

describe("a refusal says why", () => {
  test.each([
    ["no url", "it is not a URL"],
    ["http://example.com/", "http is not allowed, only https"],
    ["ftp://127.0.0.1/", "ftp is not allowed, only https"],
    ["https://user@example.com/", "its URL carries a user name or password"],
    ["https://:secret@example.com/", "its URL carries a user name or password"],
    ["https://10.0.0.1/", "its address 10.0.0.1 is a private address"],
    ["https://[::1]/", "its address ::1 is a loopback address"],
  ])("%s: %s", async (url, reason) => {
    await expect(fetched(url)).rejects.toMatchObject({
      code: "REQUEST_REFUSED",
      message: expect.stringContaining(reason),
    });
  });
});

describe("hosts that are allowed", () => {
  const refusing: LookupFunction = (_host, _options, done) =>
    done(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), "", 4);
  /** Whether the guard lets a request out, as far as the lookup of its name. */
  const passes = async (url: string, options: GuardOptions) =>
    (await fetched(url, {}, { lookup: refusing, ...options }).catch((error) => error.code)) === "CALL_FAILED";

  test.each<[string, GuardOptions, boolean]>([
    ["http://api.internal/", { allowPrivateHosts: ["api.internal"] }, true],
    ["http://API.internal/", { allowPrivateHosts: ["Api.Internal"] }, true],
    ["http://api.internal/", { allowPrivateHosts: ["api.internal:80"] }, true],
    ["http://api.internal:81/", { allowPrivateHosts: ["api.internal:80"] }, false],
    ["http://api.internal:443/", { allowPrivateHosts: ["api.internal:80"] }, false],
    ["http://api.internal/", { ownUrl: "http://api.internal/keys" }, true],
    ["http://api.internal:8080/", { ownUrl: "http://api.internal/keys" }, false],
    ["http://api.internal:443/", { ownUrl: "https://api.internal/keys" }, true],
    ["http://api.internal/", { ownUrl: "https://api.internal/keys" }, false],
    ["ftp://api.internal/", { allowPrivateHosts: ["api.internal"] }, false],
    ["https://example.com/", {}, true],
    ["http://example.com/", {}, false],
    ["http://internal/", { allowPrivateHosts: ["api.internal"] }, false],
  ])("%s with %j: %s", async (url, options, isOpen) => {
    expect(await passes(url, { allowPrivateHosts: [], ...options })).toBe(isOpen);
  });

  test("may be addresses of version 6, with or without brackets", async () => {
    for (const host of ["::1", "[::1]", "[::1]:1"]) {
      const failed = fetched("http://[::1]:1/", {}, { allowPrivateHosts: [host] });
      await expect(failed).rejects.toMatchObject({ code: "CALL_FAILED" });
    }
  });
});

describe("a host that cannot be reached", () => {
  const failing = (error: unknown) => ({
    allowPrivateHosts: [],
    lookup: ((_host, _options, done) => done(error as Error, "", 4)) as LookupFunction,
  });

  test("is named with the network code and what to check", async () => {
    const error = Object.assign(new Error("getaddrinfo failed"), { code: "ENOTFOUND" });
    await expect(fetched("https://example.com/", {}, failing(error))).rejects.toMatchObject({
      code: "CALL_FAILED",
      message: expect.stringMatching(/example\.com.*the connection failed: ENOTFOUND getaddrinfo failed/),
      next: expect.stringContaining("Check that the host is up and its name is right"),
      details: { network: "ENOTFOUND" },
    });
  });

  test("without a code has no network code", async () => {
    await expect(fetched("https://example.com/", {}, failing(new Error("odd")))).rejects.toMatchObject({
      message: expect.stringContaining("the connection failed: odd"),
      details: { network: "" },
    });
  });

  test("at several addresses is named by the first", async () => {
    const first = Object.assign(new Error("first"), { code: "ECONNREFUSED" });
    const all = new AggregateError([first, new Error("second")]);
    await expect(fetched("https://example.com/", {}, failing(all))).rejects.toMatchObject({
      message: expect.stringContaining("the connection failed: ECONNREFUSED first"),
      details: { network: "ECONNREFUSED" },
    });
  });

  test("for a TLS error is named by its cause", async () => {
    const alert = "C0A7:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:record.c:1:";
    const error = Object.assign(new Error(alert), { code: "EPROTO" });
    await expect(fetched("https://example.com/", {}, failing(error))).rejects.toMatchObject({
      details: { network: "ERR_SSL_WRONG_VERSION_NUMBER" },
    });
    await expect(fetched(home.replace("http:", "https:"))).rejects.toMatchObject({
      code: "CALL_FAILED",
      details: { network: expect.stringMatching(/^ERR_SSL_[A-Z_]+$/) },
    });
  });
});

test("a closed fetch lets its connections go", async () => {
  const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
  const open = () =>
    new Promise<number>((resolve) => servers[0]!.getConnections((_, count) => resolve(count)));
  await (await guarded(`${home}/x`)).text();
  const before = await open();
  await guarded.close();
  await expect.poll(open).toBe(before - 1);
});

test("a fetch that sent nothing is closed at once", async () => {
  await expect(createGuardedFetch().close()).resolves.toBeUndefined();
});
