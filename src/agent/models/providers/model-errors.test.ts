import { APICallError, JSONParseError, LoadAPIKeyError } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import { problem } from "../../../base/problems/problem.ts";
import { MODEL_ERROR_CODES, mapErrorToCode } from "./model-errors.ts";

const call = (statusCode: number, message: string, body?: unknown) =>
  new APICallError({
    message,
    statusCode,
    url: "https://example.com",
    requestBodyValues: {},
    ...(body === undefined ? {} : { responseBody: JSON.stringify(body) }),
  });

test.each([
  ["status 401", call(401, "no"), "AUTHENTICATION_ERROR"],
  ["status 403", call(403, "no"), "AUTHENTICATION_ERROR"],
  ["status 404", call(404, "no"), "MODEL_NOT_FOUND"],
  ["status 408", call(408, "no"), "TIMEOUT"],
  ["status 413", call(413, "no"), "CONTEXT_LENGTH_EXCEEDED"],
  ["status 429", call(429, "no"), "RATE_LIMITED"],
  ["status 500", call(500, "no"), "NETWORK_ERROR"],
  ["status 502 with a page", call(502, "Bad Gateway"), "NETWORK_ERROR"],
  ["status 504", call(504, "no"), "TIMEOUT"],
  ["status 529", call(529, "no"), "RATE_LIMITED"],
  ["status 400 and nothing else", call(400, "no"), "UNKNOWN"],
  ["status before words", call(429, "your api key timed out"), "RATE_LIMITED"],
  ["type before status", call(403, "no", { error: { code: "rate_limit_exceeded" } }), "RATE_LIMITED"],
  [
    "OpenAI, long prompt",
    call(400, "no", { error: { code: "context_length_exceeded" } }),
    "CONTEXT_LENGTH_EXCEEDED",
  ],
  ["OpenAI, no such model", call(400, "no", { error: { code: "model_not_found" } }), "MODEL_NOT_FOUND"],
  [
    "Anthropic, long prompt",
    call(400, "prompt is too long: 9 tokens", { error: { type: "invalid_request_error" } }),
    "CONTEXT_LENGTH_EXCEEDED",
  ],
  ["Anthropic, overloaded in a stream", { type: "overloaded_error", message: "Overloaded" }, "RATE_LIMITED"],
  [
    "Azure, no such deployment",
    call(400, "no", { error: { code: "DeploymentNotFound" } }),
    "MODEL_NOT_FOUND",
  ],
  [
    "Gemini, bad key",
    call(400, "no", { error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } }),
    "AUTHENTICATION_ERROR",
  ],
  ["Gemini, quota", call(400, "no", { error: { status: "RESOURCE_EXHAUSTED" } }), "RATE_LIMITED"],
  [
    "network code within",
    new TypeError("x", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
    "NETWORK_ERROR",
  ],
  [
    "timeout of the network layer",
    Object.assign(new Error("x"), { code: "UND_ERR_HEADERS_TIMEOUT" }),
    "TIMEOUT",
  ],
  ["timeout of a signal", new DOMException("x", "TimeoutError"), "TIMEOUT"],
  ["cancelled", new DOMException("network timeout", "AbortError"), "UNKNOWN"],
  ["an answer that is not JSON", call200(), "INVALID_RESPONSE"],
  ["no key", new LoadAPIKeyError({ message: "x" }), "PROVIDER_NOT_CONFIGURED"],
  ["no package", problem("PACKAGE_MISSING", { name: "x", feature: "y" }), "PROVIDER_NOT_CONFIGURED"],
  ["refused address", problem("REQUEST_REFUSED", { where: "x", reason: "y" }), "PROVIDER_NOT_CONFIGURED"],
  ["lost connection", problem("CALL_FAILED", { name: "x", reason: "y", advice: "z" }), "NETWORK_ERROR"],
  ["a model's own problem", problem("TIMEOUT", { name: "x", ms: 1 }), "TIMEOUT"],
  ["words: api key", new Error("Invalid API key"), "AUTHENTICATION_ERROR"],
  ["words: authentication", new Error("Authentication failed"), "AUTHENTICATION_ERROR"],
  ["words: unauthorized", "Unauthorized", "AUTHENTICATION_ERROR"],
  ["words: rate limit", new Error("Rate limit reached"), "RATE_LIMITED"],
  ["words: 429", new Error("failed with 429"), "RATE_LIMITED"],
  ["words: model not found", new Error("The model x was not found"), "MODEL_NOT_FOUND"],
  ["words: context length", new Error("maximum context length"), "CONTEXT_LENGTH_EXCEEDED"],
  ["words: token limit", new Error("over the token limit"), "CONTEXT_LENGTH_EXCEEDED"],
  ["words: timed out", new Error("it timed out"), "TIMEOUT"],
  ["words: fetch failed", new Error("fetch failed"), "NETWORK_ERROR"],
  ["words: 503", new Error("got 503"), "NETWORK_ERROR"],
  ["nothing known", new Error("boom"), "UNKNOWN"],
  ["nothing at all", undefined, "UNKNOWN"],
] as const)("%s", (_, error, code) => {
  expect(mapErrorToCode(error)).toBe(code);
});

test("every thrown value has a code", () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      expect(MODEL_ERROR_CODES).toContain(mapErrorToCode(thrown));
    }),
  );
});

test("an error that contains itself has a code", () => {
  const error: Error & { error?: unknown } = new Error("boom");
  error.cause = error;
  error.error = error;
  expect(mapErrorToCode(error)).toBe("UNKNOWN");
});

function call200() {
  const cause = new JSONParseError({ text: "<html>", cause: new Error("x") });
  return new APICallError({
    message: "Invalid JSON response",
    statusCode: 200,
    url: "",
    requestBodyValues: {},
    cause,
  });
}
