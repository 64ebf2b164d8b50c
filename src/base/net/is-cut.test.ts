import { expect, test } from "vitest";
import { isCut } from "./status-problem.ts";

test("only a connection that the host closed counts as cut", () => {
  expect(["ECONNRESET", "EPIPE"].map(isCut)).toEqual([true, true]);
  expect(["ECONNREFUSED", "ETIMEDOUT", "", undefined, null, 104].map(isCut)).toEqual([
    ...[false, false, false, false, false, false],
  ]);
});
