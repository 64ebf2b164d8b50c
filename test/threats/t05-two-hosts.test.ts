import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { serveShop } from "../console/console-kit.ts";

/** Sends the lines of a request and returns the first line of the answer. */
async function send(origin: string, ...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  const [chunk] = await once(socket, "data");
  socket.destroy();
  return String(chunk).split("\r\n", 1)[0]!;
}

test("T5: a request with two Host headers is refused, whichever comes first", async () => {
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const { host } = new URL(shop.origin);
  const [good, evil] = [`Host: ${host}`, "Host: evil.example"];
  for (const path of ["/mcp", "/api/me", "/healthz", "/console"])
    for (const hosts of [
      [good, evil],
      [evil, good],
      [good, good],
      [good, evil.toLowerCase()],
    ])
      expect(await send(shop.origin, `GET ${path} HTTP/1.1`, ...hosts)).toContain(" 400 ");
  expect(await send(shop.origin, "GET /healthz HTTP/1.1", good)).toContain(" 200 ");
});

test("T5: a session of the console needs each half in its own place", async () => {
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const { cookie, half } = await shop.open();
  const [name, value] = cookie.split("=", 2) as [string, string];
  const status = async (cookie: string, header: string) => {
    const headers = { cookie, "x-keyhole-console": header };
    return (await fetch(`${shop.origin}/api/me`, { headers })).status;
  };
  expect(await status(cookie, half)).toBe(200);
  for (const [other, header] of [
    [half + value, ""],
    ["", half + value],
    [value.slice(1), half + value[0]],
    [half.at(-1) + value, half.slice(0, -1)],
    [half, value],
    [value, ""],
    [value, value],
  ])
    expect(await status(`${name}=${other}`, header!)).toBe(401);
});
