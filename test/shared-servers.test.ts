import type { Gateway } from "keyhole";
import { afterEach, expect, test } from "vitest";
import { createSharedServers } from "../src/sources/mcp/shared-servers.ts";
import { verifies } from "./claims.ts";
import { manualClock } from "./manual-clock.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf, processesWith } from "./upstream-kit.ts";

const open: Gateway[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

function serve(label: string, options: ChaosOptions) {
  const source = chaos(label, options);
  const gateway = gatewayOf([source]);
  open.push(gateway);
  return { source, gateway, call: (tool: string) => gateway.exec({ op: `${label}.${tool}`, args: {} }) };
}

verifies(
  "upstream:shared",
  "gateways with the same server use one process, until the last one leaves",
  async () => {
    const shared = createSharedServers();
    const word = `SHARED_${process.pid}`;
    const one = serve("mine", { shared, env: { [word]: "1" } });
    const two = serve("yours", { shared, env: { [word]: "1" } });
    expect(await one.call("add")).toMatchObject({ ok: true });
    expect(await two.call("add")).toMatchObject({ ok: true });
    const { pid } = one.source.diagnostics();
    expect(two.source.diagnostics().pid).toBe(pid);
    expect(processesWith(word)).toEqual([pid]);

    await one.gateway.close();
    expect(await two.call("add")).toMatchObject({ ok: true });
    expect(two.source.diagnostics().pid).toBe(pid);
    await two.gateway.close();
    expect(processesWith(word)).toEqual([]);
    expect(shared.size).toBe(0);
  },
);

verifies("upstream:shared", "another environment means a process of its own", async () => {
  const shared = createSharedServers();
  const word = `APART_${process.pid}`;
  const environment = (lang: string) => ({ ...process.env, LANG: lang });
  const one = serve("one", { shared, env: { [word]: "1" }, environment: environment("C") });
  const two = serve("two", { shared, env: { [word]: "1" }, environment: environment("C.UTF-8") });
  expect(await one.call("add")).toMatchObject({ ok: true });
  expect(await two.call("add")).toMatchObject({ ok: true });
  expect(two.source.diagnostics().pid).not.toBe(one.source.diagnostics().pid);
});

verifies(
  "upstream:shared",
  "a crash is told to those who called, and one new process serves all",
  async () => {
    const shared = createSharedServers();
    const one = serve("one", { shared });
    const two = serve("two", { shared });
    expect(await two.call("add")).toMatchObject({ ok: true });
    expect(await one.call("crash")).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
    expect(await two.call("add")).toMatchObject({ ok: true });
    expect(await one.call("add")).toMatchObject({ ok: true });
    expect(one.source.diagnostics().pid).toBe(two.source.diagnostics().pid);
  },
);

verifies(
  "upstream:idle",
  "a server that nobody uses is ended, and its next call starts it again",
  async () => {
    const clock = manualClock();
    const { source, call } = serve("rare", { clock, limits: { idleMs: 60_000, restarts: 1 } });
    // More rounds than restarts are allowed: an end for want of use is no failure.
    for (let round = 0; round < 3; round++) {
      expect(await call("add")).toMatchObject({ ok: true });
      const { pid } = source.diagnostics();
      expect(pid).toBeTypeOf("number");
      await clock.advance(60_000);
      expect(source.diagnostics().connected).toBe(false);
      await eventually(() => expect(isRunning(pid!)).toBe(false));
    }
  },
);

test("a call that runs keeps its server", async () => {
  const clock = manualClock();
  const { source, gateway, call } = serve("busy", { clock, limits: { idleMs: 1_000 } });
  await gateway.ready();
  const slow = call("hang");
  await eventually(() => expect(source.diagnostics().running).toBe(1));
  await clock.advance(5_000);
  expect(source.diagnostics().connected).toBe(true);
  await gateway.close();
  await slow;
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
