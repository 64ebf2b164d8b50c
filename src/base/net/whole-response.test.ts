import { expect, test, vi } from "vitest";
import { WholeResponse } from "./whole-response.ts";

const INIT = { status: 201, statusText: "Made", headers: { "content-type": "application/json" } };
const WHOLE = { ...INIT, headers: () => Object.entries(INIT.headers) };
const TEXT = '{"city":"Zürich"}';

function whole(text = TEXT): Response {
  return new WholeResponse(Buffer.from(text), WHOLE);
}

test("it is a response with the status and headers given", () => {
  const response = whole();
  expect(response).toBeInstanceOf(Response);
  expect(response).toMatchObject({ status: 201, statusText: "Made", ok: true, bodyUsed: false });
  expect(response.headers.get("content-type")).toBe("application/json");
});

test("it has the other properties of a common response", () => {
  const { type, url, redirected } = new Response(TEXT, INIT);
  expect(whole()).toMatchObject({ type, url, redirected });
});

test.each([100, 199, 600, 999])("it refuses the status %i, like a common response", (status) => {
  expect(() => new WholeResponse(Buffer.from(TEXT), { ...WHOLE, status })).toThrow(RangeError);
});

test.each([200, 299, 300, 404, 599])(
  "the status %i is as much of a success as in a common response",
  (status) => {
    const response = new WholeResponse(Buffer.from(TEXT), { ...WHOLE, status });
    expect(response.ok).toBe(new Response(TEXT, { ...INIT, status }).ok);
  },
);

test("it tells the bytes of its body", () => {
  expect(new WholeResponse(Buffer.from(TEXT), WHOLE).size).toBe(Buffer.byteLength(TEXT));
});

test("a form in it can be read", async () => {
  const headers = () => [["content-type", "application/x-www-form-urlencoded"] as [string, string]];
  const form = await new WholeResponse(Buffer.from("a=1&b=2"), { ...WHOLE, headers }).formData();
  expect([...form]).toEqual([
    ["a", "1"],
    ["b", "2"],
  ]);
});

test("its headers are made once, and only for a reader", async () => {
  const headers = vi.fn(WHOLE.headers);
  const response = new WholeResponse(Buffer.from(TEXT), { ...WHOLE, headers });
  await response.text();
  expect(headers).not.toHaveBeenCalled();
  expect(response.headers).toBe(response.headers);
  expect(headers).toHaveBeenCalledOnce();
});

test.each<[string, (response: Response) => Promise<unknown>]>([
  ["text", (response) => response.text()],
  ["json", (response) => response.json()],
  ["arrayBuffer", async (response) => Buffer.from(await response.arrayBuffer()).toString()],
  ["bytes", async (response) => Buffer.from(await response.bytes()).toString()],
  ["blob", async (response) => (await response.blob()).text()],
  ["textStream", async (response) => (await Array.fromAsync(response.textStream())).join("")],
  ["clone", (response) => response.clone().text()],
  ["body", (response) => new Response(response.body).text()],
])("%s reads the same as from a common response", async (_, read) => {
  expect(await read(whole())).toEqual(await read(new Response(TEXT, INIT)));
});

test("it drops a byte order mark and replaces broken characters, like a common response", async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]);
  expect(await new WholeResponse(bytes, WHOLE).text()).toBe(await new Response(bytes, INIT).text());
});

test.each<[string, (response: Response) => Promise<unknown>]>([
  ["text", (response) => response.text()],
  ["bytes", (response) => response.bytes()],
])("its body can be read once (%s)", async (_, read) => {
  const response = whole();
  await read(response);
  expect(response.bodyUsed).toBe(true);
  await expect(response.text()).rejects.toThrow(TypeError);
  await expect(response.arrayBuffer()).rejects.toThrow(TypeError);
});

test("JSON that is none fails with a syntax error", async () => {
  await expect(whole("{").json()).rejects.toThrow(SyntaxError);
});
