import { expect, test } from "vitest";
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

test.each<[string, (response: Response) => Promise<unknown>]>([
  ["text", (response) => response.text()],
  ["json", (response) => response.json()],
  ["arrayBuffer", async (response) => Buffer.from(await response.arrayBuffer()).toString()],
  ["bytes", async (response) => Buffer.from(await response.bytes()).toString()],
  ["blob", async (response) => (await response.blob()).text()],
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
