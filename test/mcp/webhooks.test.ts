import { createHmac } from "node:crypto";
import { createGateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { createLibrary, libraryDomain } from "../library.ts";
import { eventually } from "../upstream-kit.ts";

const SECRET = "it is a secret";

async function serve() {
  const library = createLibrary({ whale: "A whale is hunted." });
  const gateway = createGateway({ domains: [libraryDomain(library)] });
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, {
    webhooks: { "/hooks/books": { secret: SECRET, source: "books/library" } },
  });
  onTestFinished(async () => {
    await http.close();
    await server.close();
    await gateway.close();
  });
  await gateway.ready();
  const url = new URL("/hooks/books", http.url);
  const post = (body: string, signature?: string, method = "POST") =>
    fetch(url, {
      method,
      ...(method === "POST" && { body }),
      ...(signature !== undefined && { headers: { "x-hub-signature-256": signature } }),
    }).then(({ status }) => status);
  return { library, gateway, post };
}

function sign(body: string, secret = SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

verifies("lifecycle:webhook", "a signed body refreshes the source; a repeated one does nothing", async () => {
  const { library, gateway, post } = await serve();
  library.books.set("whale", "A whale swims away.");
  expect(await post('{"push":1}', sign('{"push":1}'))).toBe(202);
  await eventually(async () => {
    const { hits } = await gateway.ask({ query: "swims away" });
    expect(hits[0]?.summary).toContain("swims away");
  });
  expect(library.listed).toBe(2);
  expect(await post('{"push":1}', sign('{"push":1}'))).toBe(202);
  expect(await post('{"push":2}', sign('{"push":2}'))).toBe(202);
  await eventually(() => expect(library.listed).toBe(3));
});

verifies("lifecycle:webhook", "refuses anything else, without effect", async () => {
  const { library, post } = await serve();
  expect(await post("{}")).toBe(401);
  expect(await post("{}", "")).toBe(401);
  expect(await post("{}", sign("{}", "another"))).toBe(401);
  expect(await post("{ }", sign("{}"))).toBe(401);
  expect(await post("{}", sign("{}").toUpperCase())).toBe(401);
  expect(await post("", undefined, "GET")).toBe(405);
  const large = "x".repeat(5 * 1024 * 1024);
  expect(await post(large, sign(large)).catch(() => 413)).toBe(413);
  expect(library.listed).toBe(1);
});
