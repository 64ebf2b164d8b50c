import { expect, test } from "vitest";
import { withDeadline } from "./run-entry.ts";

const never = () => new Promise<never>(() => {});
const about = { ms: 60_000, name: "office.wait" };

test("a caller that cancels while the work begins waits no longer", async () => {
  const caller = new AbortController();
  let seen: AbortSignal | undefined;
  const working = withDeadline({ ...about, signal: caller.signal }, (signal) => {
    seen = signal;
    caller.abort();
    return never();
  });
  await expect(working).rejects.toMatchObject({ code: "CANCELLED" });
  expect(seen?.aborted).toBe(true);
});

test("work that a caller has cancelled before does not begin", async () => {
  let began = false;
  const working = withDeadline({ ...about, signal: AbortSignal.abort() }, () => {
    began = true;
    return never();
  });
  await expect(working).rejects.toMatchObject({ code: "CANCELLED" });
  expect(began).toBe(false);
});

test("work that is late is told so and not waited for", async () => {
  let seen: AbortSignal | undefined;
  const signal = new AbortController().signal;
  const working = withDeadline({ ...about, ms: 5, signal }, (own) => {
    seen = own;
    return never();
  });
  await expect(working).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(seen?.reason).toMatchObject({ code: "TIMEOUT" });
});
