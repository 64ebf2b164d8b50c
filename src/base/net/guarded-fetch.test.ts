import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { isProblem } from "../problems/problem.ts";
import { guardedLookup } from "./dialler.ts";
import { addressRefusal, createGuardedFetch, namedAddressRefusal } from "./guarded-fetch.ts";

/** Counts connections, because not even a connection may be made. */
let canary: Server;
let reached = 0;
let port = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
  response.end("canary");

beforeAll(async () => {
  canary = createServer((request, response) => answer(request, response));
  canary.on("connection", () => {
    reached += 1;
  });
  await new Promise<void>((resolve) => canary.listen(0, resolve));
  port = (canary.address() as AddressInfo).port;
});
beforeEach(() => {
  reached = 0;
  answer = (_, response) => response.end("canary");
});
afterAll(() => new Promise((resolve) => canary.close(resolve)));

const LITERALS = [
  ...["127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0x7f.0.0.1", "0x7f000001", "0x7F.1", "2130706433"],
  ...[
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0x7f.0x0.0x0.0x1",
    "127.0.0.1.",
    "127。0。0。1",
    "１２７.0.0.1",
  ],
  ...["0", "0.0.0.0", "0x0", "00", "0.0.0.1", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255"],
  ...["192.168.0.1", "192.168.1", "3232235521", "169.254.169.254", "0xa9fea9fe", "2852039166", "169.254.1.1"],
  ...["100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "192.0.2.1", "224.0.0.1", "239.1.1.1"],
  ...[
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
  ],
  ...["[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]"],
  ...["[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001::1]"],
  ...["[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]", "[2001:db8::1]"],
];
const NAMES = [
  "localhost",
  "localhost.",
  "LOCALHOST",
  "a.localhost",
  "127.0.0.1.nip.io",
  "ⓛocalhost",
  "localtest.me",
];

const toLoopback: LookupFunction = (_, options, done) =>
  options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    return isProblem(error) ? error.code : `not a problem: ${error}`;
  }
}

describe("destinations", () => {
  verifies(["fetch:guarded", "T6"], "refuses every spelling of a private address", async () => {
    expect(LITERALS.length + NAMES.length).toBeGreaterThanOrEqual(60);
    const guarded = createGuardedFetch({ lookup: toLoopback });
    for (const host of [...LITERALS, ...NAMES]) {
      expect([host, await codeOf(guarded(`https://${host}:${port}/`))]).toEqual([host, "REQUEST_REFUSED"]);
    }
    const byTheSystem = createGuardedFetch();
    expect(await codeOf(byTheSystem(`https://localhost:${port}/`))).toBe("REQUEST_REFUSED");
    await Promise.all([guarded.close(), byTheSystem.close()]);
    expect(reached).toBe(0);
  });

  test.each([
    ["http without an opt-in", "http://example.com/"],
    ["file", "file:///etc/passwd"],
    ["data", "data:text/plain,x"],
    ["userinfo", "https://api.example.com@127.0.0.1/"],
    ["userinfo before a public host", "https://user:secret@example.com/"],
    ["text that is not a URL", "127.0.0.1"],
  ])("refuses %s", async (_, url) => {
    const guarded = createGuardedFetch({ lookup: toLoopback });
    expect(await codeOf(guarded(url))).toBe("REQUEST_REFUSED");
    expect(reached).toBe(0);
    await guarded.close();
  });

  test("accepts public addresses", () => {
    for (const address of ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "172.32.0.1", "100.128.0.1"]) {
      expect([address, addressRefusal(address)]).toEqual([address, undefined]);
    }
    expect(addressRefusal("nonsense")).toBe("is not an address");
  });

  test("lets an allowed host be private, but not link-local", () => {
    expect(namedAddressRefusal("10.0.0.1")).toBeUndefined();
    expect(namedAddressRefusal("127.0.0.1")).toBeUndefined();
    for (const address of [
      "169.254.169.254",
      "fe80::1",
      "0.0.0.0",
      "224.0.0.1",
      "::ffff:10.0.0.1",
      "168.63.129.16",
    ]) {
      expect([address, namedAddressRefusal(address)]).not.toEqual([address, undefined]);
    }
  });
});

describe("names that change their address", () => {
  verifies(["fetch:guarded", "T6"], "connects only to the address that was checked", async () => {
    let asked = 0;
    const rebinding: LookupFunction = (_, options, done) => {
      asked += 1;
      const address = asked === 1 ? "93.184.216.34" : "127.0.0.1";
      if (options.all) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
    const dialled: unknown[] = [];
    const lookup = guardedLookup(addressRefusal, rebinding);
    lookup("rebind.example", { all: true }, (error, found) => dialled.push(error ?? found));
    lookup("rebind.example", { all: true }, (error) => dialled.push(isProblem(error) && error.code));
    expect(dialled).toEqual([[{ address: "93.184.216.34", family: 4 }], "REQUEST_REFUSED"]);

    const guarded = createGuardedFetch({ lookup: rebinding });
    expect(await codeOf(guarded(`https://rebind.example:${port}/`))).toBe("REQUEST_REFUSED");
    expect(reached).toBe(0);
    await guarded.close();
  });

  test("refuses a name with one private address among public ones", () => {
    const mixed: LookupFunction = (_host, _options, done) =>
      done(null, [
        { address: "93.184.216.34", family: 4 },
        { address: "::1", family: 6 },
      ]);
    let outcome: unknown;
    guardedLookup(addressRefusal, mixed)("mixed.example", { all: true }, (error) => {
      outcome = isProblem(error) && error.code;
    });
    expect(outcome).toBe("REQUEST_REFUSED");
  });
});

describe("redirects", () => {
  const allowPrivateHosts = ["127.0.0.1"];
  const home = (path: string) => `http://127.0.0.1:${port}${path}`;
  const redirectTo = (location: string, status = 302) => {
    answer = (request, response) => {
      if (request.url !== "/start") return void response.end(`${request.method} ${request.url}`);
      response.writeHead(status, { location }).end();
    };
  };

  verifies("fetch:guarded", "lead to no private host, through any number of hops", async () => {
    const guarded = createGuardedFetch({ allowPrivateHosts, redirects: "public", lookup: toLoopback });
    for (const target of [
      `https://localhost:${port}/x`,
      `https://[::1]:${port}/x`,
      `http://0x7f000001.example:${port}/x`,
      `//localhost:${port}/x`,
      "https://169.254.169.254/latest/meta-data",
      "file:///etc/passwd",
      "http://user:pass@127.0.0.1/",
      "https://::bad",
    ]) {
      redirectTo(target);
      expect([target, await codeOf(guarded(home("/start")))]).toEqual([target, "REQUEST_REFUSED"]);
    }
    let hops = 0;
    answer = (_, response) => {
      hops += 1;
      const location = hops < 4 ? home(`/${hops}`) : `https://localhost:${port}/secret`;
      response.writeHead(307, { location }).end();
    };
    expect(await codeOf(guarded(home("/0")))).toBe("REQUEST_REFUSED");
    expect(hops).toBe(4);
    await guarded.close();
  });

  test("to another origin are refused by default, also to another port", async () => {
    const guarded = createGuardedFetch({ allowPrivateHosts });
    for (const target of [`http://127.0.0.1:${port + 1}/`, "https://example.com/"]) {
      redirectTo(target);
      expect(await codeOf(guarded(home("/start")))).toBe("REQUEST_REFUSED");
    }
    await guarded.close();
  });

  test("within the origin are followed up to a limit, and turn a redirected form into a read", async () => {
    const guarded = createGuardedFetch({ allowPrivateHosts });
    redirectTo("/there?a=1");
    const request = { method: "POST", body: "x", headers: { "content-type": "text/plain" } };
    expect(await (await guarded(home("/start"), request)).text()).toBe("GET /there?a=1");
    redirectTo("/there", 308);
    expect(await (await guarded(home("/start"), request)).text()).toBe("POST /there");
    redirectTo("/start");
    expect(await codeOf(guarded(home("/start")))).toBe("REQUEST_REFUSED");
    expect(reached).toBeLessThan(12);
    await guarded.close();
  });
});

describe("an address that the owner configured", () => {
  verifies("fetch:guarded", "may be private, at that host and port only", async () => {
    const guarded = createGuardedFetch({ ownUrl: `http://127.0.0.1:${port}/some/path` });
    expect(await (await guarded(`http://127.0.0.1:${port}/other`)).text()).toBe("canary");
    expect(await codeOf(guarded(`http://127.0.0.1:${port + 1}/`))).toBe("REQUEST_REFUSED");
    expect(await codeOf(guarded(`http://localhost:${port}/`))).toBe("REQUEST_REFUSED");
    await guarded.close();
  });

  test("never leads to a link-local address by its name", async () => {
    const lookup: LookupFunction = (_host, _options, done) =>
      done(null, [{ address: "169.254.169.254", family: 4 }]);
    const guarded = createGuardedFetch({ ownUrl: "http://keys.internal/jwks", lookup });
    expect(await codeOf(guarded("http://keys.internal/jwks"))).toBe("REQUEST_REFUSED");
    await guarded.close();
  });

  test("answers with the redirect itself if none may be followed", async () => {
    const guarded = createGuardedFetch({ ownUrl: `http://127.0.0.1:${port}`, redirects: "none" });
    answer = (_, response) => response.writeHead(302, { location: "/elsewhere" }).end("moved");
    const response = await guarded(`http://127.0.0.1:${port}/`);
    expect([response.status, await response.text()]).toEqual([302, "moved"]);
    await guarded.close();
  });
});

describe("allowPrivateHosts", () => {
  test("holds for the named host and port only", async () => {
    const guarded = createGuardedFetch({ allowPrivateHosts: [`127.0.0.1:${port}`] });
    expect(await (await guarded(`http://127.0.0.1:${port}/`)).text()).toBe("canary");
    expect(await codeOf(guarded(`http://127.0.0.1:${port + 1}/`))).toBe("REQUEST_REFUSED");
    expect(await codeOf(guarded(`http://localhost:${port}/`))).toBe("REQUEST_REFUSED");
    await guarded.close();
  });

  test("ignores proxies of the environment", async () => {
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = "http://127.0.0.1:9";
    const guarded = createGuardedFetch({ allowPrivateHosts: ["localhost"] });
    expect((await guarded(`http://localhost:${port}/`)).status).toBe(200);
    await guarded.close();
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  });

  test("reports a host that is down and an aborted signal", async () => {
    const guarded = createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"] });
    expect(await codeOf(guarded("http://127.0.0.1:1/"))).toBe("CALL_FAILED");
    answer = () => {};
    const signal = AbortSignal.timeout(50);
    await expect(guarded(`http://127.0.0.1:${port}/`, { signal })).rejects.toThrow(/timeout/i);
    await guarded.close();
  });
});
