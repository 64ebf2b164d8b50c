import type { Gateway } from "keyhole";
import type { OpenApiOptions } from "keyhole/sources";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "./claims.ts";
import { type LoopbackApi, sendJson, startLoopbackApi } from "./loopback-api.ts";
import { openPets, problemOfPets, runPets } from "./pet-api.ts";

let api: LoopbackApi;
let gateway: Gateway;

beforeAll(async () => {
  api = await startLoopbackApi();
});
beforeEach(() => {
  api.seen.length = 0;
  api.answer = (_, response) => sendJson(response, { ok: true });
  gateway = openPets(api);
});
afterEach(() => gateway.close());
afterAll(() => api.close());

const run = (op: string, args?: Record<string, unknown>) => runPets(gateway, op, args);

async function reopen(options: Partial<OpenApiOptions>): Promise<void> {
  await gateway.close();
  gateway = openPets(api, options);
}

const problemOf = (op: string, args?: Record<string, unknown>) => problemOfPets(gateway, op, args);

describe("requests", () => {
  test("parameters go into path, query and headers as declared", async () => {
    await run("pets.pets.get", {
      id: "a/b c",
      fields: ["name", "age"],
      "X-Trace": "t1",
      filter: { kind: "cat" },
    });
    const [seen] = api.seen;
    expect(seen).toMatchObject({ method: "GET", url: "/v2/pets/a%2Fb%20c?fields=name,age&kind=cat" });
    expect(seen?.headers).toMatchObject({ "x-trace": "t1", host: api.host });
  });

  test("bodies: JSON, form, multipart, text, bytes", async () => {
    await run("pets.pets.create", { name: "Tom", age: 3 });
    await run("pets.post_form", { a: [1, 2], b: { x: { y: "z" } }, c: "é&" });
    await run("pets.upload", { file: Buffer.from([0, 255]).toString("base64"), meta: { a: 1 }, title: 'q"' });
    await run("pets.put_note", { body: "plain" });
    await run("pets.put_blob", { body: Buffer.from([1, 2, 3]).toString("base64") });
    const [json, form, multipart, note, blob] = api.seen;
    expect(json?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(String(json?.body))).toEqual({ name: "Tom", age: 3 });
    expect(String(form?.body)).toBe("a=1&a=2&b%5Bx%5D%5By%5D=z&c=%C3%A9%26");
    expect(String(note?.body)).toBe("plain");
    expect([...(blob?.body ?? [])]).toEqual([1, 2, 3]);
    const read = await new Response(new Uint8Array(multipart?.body ?? []), {
      headers: { "content-type": multipart?.headers["content-type"] ?? "" },
    }).formData();
    expect([...(await (read.get("file") as File).bytes())]).toEqual([0, 255]);
    expect(await new Response(read.get("meta") as File | string).text()).toBe('{"a":1}');
    expect(read.get("title")).toBe('q"');
  });

  test("an omitted parameter is not sent, even if the document has a default", async () => {
    await run("pets.pets.update", { id: "1", name: "Tom" });
    expect(api.seen[0]?.url).toBe("/v2/pets/1");
    expect(String(api.seen[0]?.body)).toBe('{"name":"Tom"}');
    const { text } = await gateway.help({ path: "pets.pets.update", format: "full", includeSchemas: true });
    expect(text).toContain("Tell the owner. Default: true.");
  });

  test("wrong arguments are refused before a request is sent", async () => {
    expect((await problemOf("pets.pets.create", { age: "x" })).code).toBe("INVALID_PARAMS");
    expect((await problemOf("pets.pets.get", { id: ".." })).code).toBe("INVALID_PARAMS");
    expect((await problemOf("pets.pets.get", { id: "1", "X-Trace": "a\r\nHost: b" })).code).toBe(
      "INVALID_PARAMS",
    );
    expect(api.seen).toEqual([]);
  });

  test("lanes follow the method; a dry run shows the request and sends nothing", async () => {
    const { hits } = await gateway.ask({ query: "pets", limit: 20 });
    const lanes = Object.fromEntries(hits.map((hit) => [hit.op, hit.lane]));
    expect(lanes).toMatchObject({
      "pets.pets.get": "read",
      "pets.pets.create": "write",
      "pets.pets.delete": "destructive",
    });
    const dry = await gateway.exec({ op: "pets.pets.delete", args: { id: "7" }, dryRun: true });
    expect(dry).toMatchObject({
      ok: true,
      result: { would_send: { method: "DELETE", url: `${api.url}/v2/pets/7` } },
    });
    expect(api.seen).toEqual([]);
  });

  verifies("openapi:any-document", "an unusable operation says why", async () => {
    expect((await problemOf("pets.elsewhere")).message).toMatch(/another origin, https:\/\/other\.example/);
    expect((await problemOf("pets.outside")).message).toMatch(/leads outside the document/);
    expect(api.seen).toEqual([]);
  });
});

describe("answers", () => {
  const send = (type: string, body: string | Buffer) => {
    api.answer = (_, response) => void response.writeHead(200, { "content-type": type }).end(body);
  };

  test("JSON is parsed, text is kept, bytes are described, an empty body gives the status", async () => {
    send("application/problem+json; charset=utf-8", '{"a":[1]}');
    expect((await run("pets.pets.list")).result).toEqual({ a: [1] });
    send("text/plain; charset=latin1", Buffer.from([0xe9]));
    expect((await run("pets.pets.list")).result).toBe("é");
    send("image/png", Buffer.from([1, 2]));
    expect((await run("pets.pets.list")).result).toEqual({
      content_type: "image/png",
      bytes: 2,
      base64: "AQI=",
    });
    send("application/json", "{broken");
    expect((await run("pets.pets.list")).result).toBe("{broken");
    api.answer = (_, response) => void response.writeHead(204).end();
    expect((await run("pets.pets.delete", { id: "1" })).result).toEqual({ status: 204 });
    api.answer = (_, response) => void response.writeHead(200, { etag: "x" }).end();
    expect((await run("pets.pets.check", { id: "1" })).result).toMatchObject({
      status: 200,
      headers: { etag: "x" },
    });
  });

  test.each([
    [400, "CALL_FAILED", /Correct the args/],
    [401, "LOGIN_NEEDED", /credentials/],
    [403, "LOGIN_NEEDED", /scopes/],
    [404, "CALL_FAILED", /Check the ids/],
    [409, "CONFLICT", /Read the current state/],
    [429, "RATE_LIMITED", /Wait 7 seconds/],
    [500, "CALL_FAILED", /The API itself failed/],
    [503, "CALL_FAILED", /in 7 seconds/],
  ])("%i is %s, and says what to do", async (status, code, next) => {
    api.answer = (_, response) =>
      sendJson(response, { message: "not like this" }, status, { "retry-after": "7" });
    const found = await problemOf("pets.pets.list");
    expect(found.code).toBe(code);
    expect(found.message).toContain("not like this");
    expect(found.next).toMatch(next);
    expect(found.details).toMatchObject({ status, body: { message: "not like this" } });
    expect(api.seen).toHaveLength(1);
  });

  test("a long error is cut", async () => {
    api.answer = (_, response) =>
      void response.writeHead(500, { "content-type": "text/html" }).end("x".repeat(1e6));
    expect(JSON.stringify(await problemOf("pets.pets.list")).length).toBeLessThan(4_000);
  });

  test("an endless answer is cut at the limit, and a broken connection is a problem", async () => {
    const chunk = Buffer.alloc(1 << 20, 120);
    let sent = 0;
    api.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += 1;
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    expect((await problemOf("pets.pets.list")).code).toBe("LIMIT_EXCEEDED");
    expect(sent).toBeLessThan(80);
    api.answer = (_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setTimeout(() => response.destroy(), 20);
    };
    expect((await problemOf("pets.pets.list")).code).toBe("CALL_FAILED");
  });

  test("a call ends at its deadline and when the caller cancels", async () => {
    let brokenOff = 0;
    api.answer = (_, response) =>
      void response.on("close", () => {
        brokenOff += 1;
      });
    await reopen({ timeoutMs: 100 });
    expect((await problemOf("pets.pets.list")).code).toBe("TIMEOUT");
    await reopen({});
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 50);
    const stopped = await gateway.exec({ op: "pets.pets.list" }, { signal: stopping.signal });
    expect(stopped).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await vi.waitFor(() => expect(brokenOff).toBe(2));
  });
});
