import { expect, test } from "vitest";
import { statusProblem } from "../../base/net/status-problem.ts";
import { problem } from "../../base/problems/problem.ts";
import { isToolFailure } from "./run-entry.ts";

const answered = (status: number) => statusProblem("api", new Response(null, { status }), null);

test.each([
  ["a thrown error", new Error("no such table")],
  ["a value that is no error", "broken"],
  ["an API that fails", answered(500)],
  ["an error that a server reports", problem("UPSTREAM_ERROR", { server: "s", reason: "disk full" })],
  ["a result that is not JSON", problem("RESULT_INVALID", { name: "t", reason: "a cycle" })],
])("%s is a failure of the tool", (_, error) => {
  expect(isToolFailure(error)).toBe(true);
});

test.each([
  ["wrong params", problem("INVALID_PARAMS", { name: "t" })],
  ["wrong params by the word of the API", answered(422)],
  ["an id that does not exist", answered(404)],
  [
    "wrong params by the word of a server",
    problem("UPSTREAM_ERROR", { server: "s", reason: "MCP error -32602" }),
  ],
  ["cancellation", problem("CANCELLED", { name: "t" })],
  ["a timeout", problem("TIMEOUT", { name: "t", ms: 1 })],
  ["missing rights", answered(403)],
  ["an API out of reach", answered(503)],
  [
    "a host out of reach",
    problem("CALL_FAILED", { name: "h", reason: "r", advice: "a" }, { network: "ECONNREFUSED" }),
  ],
  ["an entry that is down", problem("UNAVAILABLE", { name: "t", state: "down", reason: "rests" })],
  ["a lost connection", problem("UPSTREAM_LOST", { server: "s", reason: "exit" })],
])("%s is none", (_, error) => {
  expect(isToolFailure(error)).toBe(false);
});
