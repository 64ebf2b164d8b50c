import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { listInTurn } from "./slots.ts";

const AT_ONCE = 4 * availableParallelism();
const { signal } = new AbortController();

test("many servers are listed a few at a time, all of them in the end", async () => {
  let running = 0;
  let most = 0;
  const list = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((done) => setImmediate(done));
    running -= 1;
  };
  await Promise.all(Array.from({ length: 3 * AT_ONCE }, () => listInTurn(list, signal)));
  expect([running, most]).toEqual([0, AT_ONCE]);
});

test("servers that never answer let the others start", async () => {
  const never = () => new Promise<never>(() => {});
  for (let count = 0; count < AT_ONCE; count += 1) void listInTurn(never, signal);
  expect(await listInTurn(async () => "listed", signal)).toBe("listed");
});

test("a server that is no longer wanted is not listed", async () => {
  const left = AbortSignal.abort(new Error("left"));
  await expect(listInTurn(async () => "listed", left)).rejects.toThrow("left");
});
