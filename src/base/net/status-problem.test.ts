import { describe, expect, test } from "vitest";
import { statusProblem } from "./status-problem.ts";

const answer = (status: number, headers: Record<string, string> = {}, statusText = "") =>
  new Response(null, { status, headers, statusText });

test.each([
  [401, "LOGIN_NEEDED"],
  [403, "LOGIN_NEEDED"],
  [409, "CONFLICT"],
  [429, "RATE_LIMITED"],
  [400, "CALL_FAILED"],
  [402, "CALL_FAILED"],
  [404, "CALL_FAILED"],
  [500, "CALL_FAILED"],
])("%i is %s", (status, code) => {
  const found = statusProblem("api", answer(status), "why");
  expect([found.code, found.details]).toEqual([code, { status, body: "why" }]);
  expect(found.message).toContain("why");
});

test("the problem names the API, the status and the reason", () => {
  expect(statusProblem("api", answer(409), "taken").message).toBe("api answered 409: taken");
  expect(statusProblem("api", answer(418), "tea").message).toContain("the API answered 418: tea");
});

test.each([
  [404, "Check the ids in the args: list or search first for what exists."],
  [410, "Check the ids in the args: list or search first for what exists."],
  [408, "Ask for less at once, then try again."],
  [412, "Read the current state again, then decide whether to repeat the call."],
  [428, "Read the current state again, then decide whether to repeat the call."],
  [400, "Correct the args: details.body says what the API did not accept."],
  [422, "Correct the args: details.body says what the API did not accept."],
  [499, "Correct the args: details.body says what the API did not accept."],
  [
    500,
    "The API itself failed. Try a read again later; repeat a write only after reading whether it took effect.",
  ],
])("the next step after %i", (status, advice) => {
  expect(statusProblem("api", answer(status), null).next).toBe(advice);
});

describe("Retry-After", () => {
  test("says how long to wait", () => {
    const limited = statusProblem("api", answer(429, { "retry-after": "1.2" }), null);
    expect(limited.details).toEqual({ status: 429, retry_after: "2 seconds" });
    expect(`${limited.message} ${limited.next}`).toContain("2 seconds");
    const failed = statusProblem("api", answer(503, { "retry-after": "30" }), null);
    expect(failed.next).toContain("Try a read again in 30 seconds;");
  });

  test("is a minute if a limit comes without it", () => {
    const { message, next, details } = statusProblem("api", answer(429), null);
    expect(`${message} ${next}`).toContain("a minute");
    expect(details).toEqual({ status: 429 });
  });
});

describe("the reason", () => {
  test.each<[unknown, string]>([
    ["plain words", "plain words"],
    [{ message: "m", detail: "d" }, "m"],
    [{ detail: "d", error_description: "x" }, "d"],
    [{ error_description: "x", error: "e" }, "x"],
    [{ error: "e", title: "t" }, "e"],
    [{ title: "t", reason: "r" }, "t"],
    [{ reason: "r" }, "r"],
    [{ error: { message: "inner" } }, "inner"],
    [{ message: "", error: "e" }, "e"],
    [{ message: 7, error: "e" }, "e"],
    [{ message: null, error: "e" }, "e"],
    [{}, "Teapot"],
    [null, "Teapot"],
    [7, "Teapot"],
    [" \n", "Teapot"],
    [{ error: {} }, "Teapot"],
  ])("of %j is %s", (body, reason) => {
    const { message } = statusProblem("api", answer(418, {}, "Teapot"), body);
    expect(message).toContain(`the API answered 418: ${reason}`);
  });

  test("is said to be missing if there is none", () => {
    expect(statusProblem("api", answer(418), null).message).toContain("no reason given");
  });

  test("is not one of the names that every object has", () => {
    const body = Object.create({ message: "inherited" });
    expect(statusProblem("api", answer(418, {}, "Teapot"), body).message).not.toContain("inherited");
  });

  test("is cut, and its hidden characters are spelt out", () => {
    const { message } = statusProblem("api", answer(418), `\u001b]${"x".repeat(1_000)}`);
    expect(message).toContain(String.raw`\u001b]xxx`);
    expect(message).not.toContain("x".repeat(300));
    expect(message).toContain("x".repeat(250));
  });
});

describe("the body in the details", () => {
  const bodyOf = (body: unknown) => statusProblem("api", answer(418), body).details.body;

  test("is the value while it is small, and text otherwise", () => {
    const small = { error: "x" };
    expect(bodyOf(small)).toBe(small);
    expect(bodyOf("text")).toBe("text");
    expect(bodyOf({ error: "x".repeat(1_988) })).toBeTypeOf("object");
    const cut = bodyOf({ error: "x".repeat(1_989) }) as string;
    expect(cut.startsWith('{"error":"xxx')).toBe(true);
    expect(cut.length).toBeLessThanOrEqual(2_000);
    expect(bodyOf("\u001bx")).toBe(String.raw`\u001bx`);
  });

  test("is left out if there is none", () => {
    expect(statusProblem("api", answer(418), null).details).toEqual({ status: 418 });
  });
});
