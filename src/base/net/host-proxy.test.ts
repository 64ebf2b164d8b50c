import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHostProxy } from "./host-proxy.ts";

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Asks a proxy for a tunnel. Resolves to the status. */
function tunnel(port: number, path: string): Promise<number | undefined> {
  return new Promise((done, reject) => {
    const asked = request({ host: "127.0.0.1", port, method: "CONNECT", path });
    asked.on("connect", ({ statusCode }, socket) => {
      socket.destroy();
      done(statusCode);
    });
    asked.on("error", reject).end();
  });
}

/** Sends a plain request through a proxy. */
function send(port: number, path: string, body = ""): Promise<{ status?: number; text: string }> {
  return new Promise((done, reject) => {
    const asked = request({ host: "127.0.0.1", port, method: "POST", path }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => done({ ...(answer.statusCode && { status: answer.statusCode }), text }));
    });
    asked.on("error", reject).end(body);
  });
}

test("a plain request and a tunnel reach a listed host, with body and path", async () => {
  const host = await listening(
    createServer((incoming, answer) => {
      incoming.on("data", (chunk) => answer.write(`${incoming.url} ${chunk}`)).on("end", () => answer.end());
    }),
  );
  const proxy = await listening(createHostProxy({ hosts: [`127.0.0.1:${host}`] }));
  expect(await send(proxy, `http://127.0.0.1:${host}/a?b=1`, "hello")).toEqual({
    status: 200,
    text: "/a?b=1 hello",
  });
  expect(await tunnel(proxy, `127.0.0.1:${host}`)).toBe(200);
});

test.each([
  [
    ["api.example.com"],
    ["other.com:443", "example.com:443", "xapi.example.com:443", "api.example.com.evil.com:443"],
  ],
  [["*.example.com"], ["example.com:443", "evilexample.com:443", "a.example.com.evil.com:443"]],
  [["api.example.com:443"], ["api.example.com:80", "api.example.com:22"]],
  [["[::1]:8080"], ["[::1]:80", "[::2]:8080"]],
  [["a.example.com"], ["/", "a.example.com@evil.com:443"]],
])("hosts outside of %j are refused and noted", async (hosts, wanted) => {
  const noted: [string, boolean][] = [];
  const onHost = (host: string, isListed: boolean) => void noted.push([host, isListed]);
  const proxy = await listening(createHostProxy({ hosts, onHost }));
  for (const host of wanted) expect(await tunnel(proxy, host), host).toBe(403);
  expect(noted.map(([, isListed]) => isListed)).toEqual(wanted.map(() => false));
});

test("a listed name that leads to this machine is not reached", async () => {
  const host = await listening(createServer((_, answer) => answer.end("planted")));
  const proxy = await listening(createHostProxy({ hosts: ["localhost"] }));
  expect(await send(proxy, `http://localhost:${host}/`)).toMatchObject({ status: 502 });
  expect(await tunnel(proxy, `LOCALHOST:${host}`)).toBe(502);
});

test("requests that are no requests of a proxy are refused", async () => {
  const proxy = await listening(createHostProxy({ hosts: undefined }));
  expect(await send(proxy, "/plain")).toMatchObject({ status: 400 });
  expect(await send(proxy, "https://example.com/")).toMatchObject({ status: 400 });
});
