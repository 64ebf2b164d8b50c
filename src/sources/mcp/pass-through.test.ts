import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { CAPABILITIES_KEY, LOG_LEVEL_KEY, toQuestion } from "./entry-request.ts";

const form = { method: "elicitation/create", params: { message: "Your name?", requestedSchema: {} } };
const question = (request: object) => ({ resultType: "input_required", inputRequests: { it: request } });

test("a trusted server's question is passed on unchanged", () => {
  const asked = question({ method: "sampling/createMessage", params: {} });
  expect(toQuestion(asked, { label: "notes", trusted: true })).toBe(asked);
});

test("an untrusted server's form names the server", () => {
  const shown = toQuestion(question(form), { label: "notes", trusted: false });
  expect(shown.inputRequests.it).toEqual({
    method: "elicitation/create",
    params: { message: "The server notes asks: Your name?", requestedSchema: {} },
  });
});

test.each([
  { method: "elicitation/create", params: { mode: "url", url: "https://a.example", message: "Go" } },
  { method: "elicitation/create", params: { mode: "more", message: "Go" } },
  { method: "__proto__" },
])("a server that was told not to ask %o and does is refused", (request) => {
  expect(() => toQuestion(question(request), { label: "notes", trusted: false })).toThrow(
    /only a trusted server may/,
  );
});

test("the keys equal those of the SDK", () => {
  expect([CAPABILITIES_KEY, LOG_LEVEL_KEY]).toEqual([CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY]);
});
